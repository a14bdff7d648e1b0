package pool

import "testing"

func TestPoolIsEmpty(t *testing.T) {
	if New().Size() != 0 {
		t.Fatal("not empty")
	}
}
