package stock

import "testing"

// Fails while a service outside the project is down: the change, in another package, has no part.
func TestOutageOfAServiceThatTheChangeDoesNotTouch(t *testing.T) {
	count, err := Count("apple")
	if err != nil || count != 12 {
		t.Fatal(count, err)
	}
}
