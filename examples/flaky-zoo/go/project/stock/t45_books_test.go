package stock

import "testing"

// What one test leaves is harmless until another one has seen it.
var areBooksOpen, isYearClosed bool

func TestVictimOfAClosedYear(t *testing.T) {
	if isYearClosed {
		t.Fatal("the year is closed")
	}
}

func TestPolluterClosesTheYear(t *testing.T) {
	isYearClosed = areBooksOpen
}

func TestPolluterOpensTheBooks(t *testing.T) {
	areBooksOpen = true
}

func TestCleanerOfTheCurrency(t *testing.T) {
	Currency = "EUR"
}

// Waits for those that do not run beside others, and so comes after its victim in every order.
func TestPolluterThatRunsBesideOthers(t *testing.T) {
	t.Parallel()
	Currency = "USD"
}
