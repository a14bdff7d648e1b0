package shop

import "testing"

func TestRealCrashThatTheChangeIntroduces(t *testing.T) {
	if line := Line("wholemeal bread, sliced", 250); line != "wholemeal bread 2.50" {
		t.Fatal(line)
	}
}

func TestRealRegressionInCode(t *testing.T) {
	if total := Total([]Item{{40, 3}, {250, 1}}); total != 370 {
		t.Fatalf("%d, not 370", total)
	}
}

func TestRealRegressionByAddedLinesOnly(t *testing.T) {
	if cost := Cost(2500, "abroad"); cost != 1100 {
		t.Fatalf("%d, not 1100", cost)
	}
}

func TestRealRegressionByAnAddedFile(t *testing.T) {
	if price := BestPrice(1000); price != 950 {
		t.Fatalf("%d, not 950", price)
	}
}

// The first call fails half-way and fills the cache of its process.
func TestRealFailureThatACacheHidesFromReruns(t *testing.T) {
	if name := Names()[0]; name != "apple" {
		t.Fatal(name)
	}
}
