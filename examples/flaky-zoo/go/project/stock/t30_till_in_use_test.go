package stock

import "testing"

// A backup job holds the till for a while: three tests fail together, and pass later.

func TestBackupJobStartsAndTakesTheTill(t *testing.T) {
	if err := StartBackup(); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) {
	if err := OpenTill(); err != nil {
		t.Fatal(err)
	}
}

func TestBurstyTillInUseWhenSelling(t *testing.T) { open(t) }

func TestBurstyTillInUseWhenRefunding(t *testing.T) { open(t) }

func TestBurstyTillInUseWhenCounting(t *testing.T) { open(t) }

func TestCleanerOfTheTill(t *testing.T) {
	FinishBackup()
}
