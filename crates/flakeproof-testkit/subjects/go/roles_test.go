package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"example.com/conformance/shop"
)

var state []string

func note(what string) {
	noteOf(what, os.Getpid())
}

func noteOf(what string, pid int) {
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	notes, err := os.OpenFile("../outside/notes", flags, 0o644)
	if err != nil {
		panic(err)
	}
	defer notes.Close()
	fmt.Fprintf(notes, "%s %d\n", what, pid)
}

func TestPasses(t *testing.T) {
	note("passes")
}

func TestFails(t *testing.T) {
	note("fails")
	shop.Price()
	t.Fatal("expected 1 but was 2")
}

func TestSkipped(t *testing.T) {
	t.Skip("not today")
}

func TestCrashes(t *testing.T) {
	note("crashes")
	shop.Price()
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestExits(t *testing.T) {
	note("exits")
	shop.Price()
	os.Exit(0)
}

func TestHangs(t *testing.T) {
	note("hangs")
	shop.Price()
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	noteOf("child", child.Process.Pid)
	child.Wait()
}

func TestPrints(t *testing.T) {
	note("prints")
	fmt.Println("said on stdout")
	fmt.Fprintln(os.Stderr, "said on stderr")
}

func TestPolluter(t *testing.T) {
	note("polluter")
	state = append(state, "polluted")
}

func TestVictim(t *testing.T) {
	note("victim")
	if len(state) > 0 {
		t.Fatal("polluted")
	}
}

func TestGröße(t *testing.T) {
	note("odd_name")
}

func TestSeesVariables(t *testing.T) {
	note("sees_variables")
	names := []string{"FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED", "FLAKEPROOF_ATTEMPT"}
	var seen []string
	for _, name := range names {
		seen = append(seen, os.Getenv(name))
	}
	note("variables:" + strings.Join(seen, ","))
}

func TestTouches(t *testing.T) {
	note("touches")
	if shop.Price() != 40 {
		t.Fatal("another price")
	}
}
