package stock

import "testing"

func TestPolluterSwitchesCurrency(t *testing.T) {
	Currency = "USD"
}

func TestVictimOfTheCurrency(t *testing.T) {
	if Currency != "EUR" {
		t.Fatal(Currency)
	}
}

func TestBrittleNeedsACustomer(t *testing.T) {
	if Customer != "ada" {
		t.Fatal("nobody is logged in")
	}
}

func TestStateSetterLogsACustomerIn(t *testing.T) {
	Customer = "ada"
}
