package stock

import (
	"os"
	"syscall"
	"testing"
)

func TestCrashByASignalEveryTime(t *testing.T) {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestHangWaitsForAnEventThatNeverComes(t *testing.T) {
	reader, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Read(make([]byte, 1))
}
