// Nothing that can be changed from outside makes these fail, or makes them pass: no lever may be named.
package pay

import (
	"crypto/rand"
	"testing"
)

func TestNothingFirstOfTenTags(t *testing.T) {
	tags := map[int]bool{}
	for tag := range make([]struct{}, 8) {
		tags[tag] = true
	}
	for tag := range tags {
		if tag == 0 {
			t.Fatal("the first tag is 0: the order of a map is drawn anew, by nothing that can be set")
		}
		break
	}
}

func TestNothingFailsOneTimeInTen(t *testing.T) {
	drawn := make([]byte, 1)
	if _, err := rand.Read(drawn); err != nil || drawn[0] < 26 {
		t.Fatal("bad luck")
	}
}

func TestNothingNeverFails(t *testing.T) {}
