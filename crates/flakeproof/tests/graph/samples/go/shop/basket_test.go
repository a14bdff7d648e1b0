package shop

import (
	"testing"
	"time"
)

func filled(item string, count int) *Basket {
	basket := NewBasket(time.Now())
	basket.Add(item, count)
	return basket
}

func TestExpires(t *testing.T) {
	now := time.Now()
	basket := filled("apple", 3)
	if basket.Size() != 3 {
		t.Errorf("size: %d", basket.Size())
	}
	if !basket.Expires().After(now) {
		t.Fatal("expired")
	}
}
