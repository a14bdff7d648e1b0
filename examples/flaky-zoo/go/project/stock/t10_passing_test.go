package stock

import (
	"fmt"
	"testing"
)

func TestPassingWithOutput(t *testing.T) {
	fmt.Println("closed on Sundays")
}

func TestPassingWithSubtests(t *testing.T) {
	for _, cents := range []int{0, 5, 250} {
		t.Run(fmt.Sprint(cents), func(t *testing.T) {
			if cents < 0 {
				t.Fatal(cents)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	t.Skip("the shop has no second till yet")
}
