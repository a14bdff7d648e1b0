// Each test fails because of another test, or of a copy of itself.
package pay

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var currency = "USD"

func TestAPolluterChangesTheCurrency(t *testing.T) {
	currency = "EUR"
}

func TestOrderVictimPaysInDollars(t *testing.T) {
	if currency != "USD" {
		t.Fatalf("paid in %s", currency)
	}
}

func TestBesideItselfFixedPort(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:18766")
	if err != nil {
		t.Fatal("the port is taken")
	}
	time.Sleep(300 * time.Millisecond)
	server.Close()
}

func TestBesideItselfFixedTemporaryFile(t *testing.T) {
	path := filepath.Join(os.TempDir(), "pay-of-the-zoo.lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal("somebody else pays")
	}
	time.Sleep(300 * time.Millisecond)
	file.Close()
	os.Remove(path)
}
