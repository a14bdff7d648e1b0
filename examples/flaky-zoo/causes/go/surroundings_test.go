// Each test fails for one thing about its surroundings, in the way that real ones do.
package pay

import (
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestZoneDayOfAPayment(t *testing.T) {
	if day := time.Unix(1_700_000_000, 0).Format("2006-01-02 15:04"); day != "2023-11-14 22:13" {
		t.Fatalf("paid on %s", day)
	}
}

func TestDescriptorsOpensAllParts(t *testing.T) {
	folder := t.TempDir()
	for part := range make([]struct{}, 300) {
		file, err := os.Create(filepath.Join(folder, string(rune('A'+part))))
		if err != nil {
			t.Fatal("a part cannot be opened")
		}
		defer file.Close()
	}
}

func TestUmaskReportIsReadableByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.txt")
	if err := os.WriteFile(path, []byte("paid"), 0o644); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(path); err != nil || about.Mode()&0o004 == 0 {
		t.Fatal("nobody else can read it")
	}
}

func TestOneCoreWorkersForEachSide(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Fatal("a worker for each side is wanted")
	}
}

func TestSeedDrawnCustomerIsNotTheSecond(t *testing.T) {
	if rand.Intn(20) == 1 {
		t.Fatal("the second customer was drawn")
	}
}

func TestNoNetworkTalksToItself(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("no port")
	}
	defer server.Close()
	client, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal("no way to itself")
	}
	client.Close()
}

func TestNoDNSFindsThisMachine(t *testing.T) {
	if _, err := net.LookupHost("localhost"); err != nil {
		t.Fatal("this machine has no address")
	}
}
