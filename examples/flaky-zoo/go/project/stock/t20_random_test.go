package stock

import "testing"

// Fails by chance, at once and at any time: not bursty.
func draw(t *testing.T) {
	if Draw() == 0 {
		t.Fatal("one draw in ten is a blank")
	}
}

func TestRandomFailure00(t *testing.T) { draw(t) }

func TestRandomFailure01(t *testing.T) { draw(t) }

func TestRandomFailure02(t *testing.T) { draw(t) }

func TestRandomFailure03(t *testing.T) { draw(t) }

func TestRandomFailure04(t *testing.T) { draw(t) }

func TestRandomFailure05(t *testing.T) { draw(t) }

func TestRandomFailure06(t *testing.T) { draw(t) }

func TestRandomFailure07(t *testing.T) { draw(t) }

func TestRandomFailure08(t *testing.T) { draw(t) }

func TestRandomFailure09(t *testing.T) { draw(t) }

func TestRandomFailure10(t *testing.T) { draw(t) }

func TestRandomFailure11(t *testing.T) { draw(t) }

func TestRandomFailure12(t *testing.T) { draw(t) }

func TestRandomFailure13(t *testing.T) { draw(t) }

func TestRandomFailure14(t *testing.T) { draw(t) }

func TestRandomFailure15(t *testing.T) { draw(t) }

func TestRandomFailure16(t *testing.T) { draw(t) }

func TestRandomFailure17(t *testing.T) { draw(t) }

func TestRandomFailure18(t *testing.T) { draw(t) }

func TestRandomFailure19(t *testing.T) { draw(t) }
