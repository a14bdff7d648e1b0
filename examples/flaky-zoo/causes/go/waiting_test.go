// Each test expects to be fast, or another goroutine or the machine to be.
package pay

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuotaAnswerComesInTime(t *testing.T) {
	begin := time.Now()
	time.Sleep(100 * time.Millisecond)
	if waited := time.Since(begin); waited > 700*time.Millisecond {
		t.Fatalf("the answer came after %s", waited.Round(100*time.Millisecond))
	}
}

func TestQuotaTimeoutTooShort(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	go func() {
		for range make([]struct{}, 10) {
			time.Sleep(15 * time.Millisecond)
		}
		close(done)
	}()
	// Not `select` over both: where both are ready it draws one of them.
	<-done
	if ctx.Err() != nil {
		t.Fatal("the work is not done in time")
	}
}

func TestQuotaFixedSleepBeforeALook(t *testing.T) {
	var paid atomic.Bool
	go func() {
		total := 0
		for number := range make([]struct{}, 30_000_000) {
			total += number % 7
		}
		paid.Store(total > 0)
	}()
	time.Sleep(400 * time.Millisecond)
	if !paid.Load() {
		t.Fatal("not paid yet")
	}
}

func TestSlowCallsReportIsOnTheDiskInTime(t *testing.T) {
	begin := time.Now()
	file, err := os.Create(filepath.Join(t.TempDir(), "report"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for range make([]struct{}, 3) {
		if _, err := file.WriteString("paid\n"); err != nil {
			t.Fatal(err)
		}
		if err := file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if time.Since(begin) > 500*time.Millisecond {
		t.Fatal("the disk is too slow")
	}
}

func TestSlowNetworkServerAnswersInTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "paid")
	}))
	defer server.Close()
	client := http.Client{Timeout: 250 * time.Millisecond}
	answer, err := client.Get(server.URL)
	if err != nil {
		t.Fatal("no answer in time")
	}
	answer.Body.Close()
}
