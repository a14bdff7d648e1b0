// Part of the standard package testing while flakeproof runs a test binary; see the README beside
// this file. It adds no import that testing does not have already.

package testing

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
)

// The variable that names the file with what is asked for.
const flakeproofVariable = "FLAKEPROOF_GO_ORDER"

// What is asked for: a word on the first line, and the names of tests on the others. It is read
// before any code of the project runs, so that programs that tests start from this binary are not
// asked the same.
var flakeproofAsked = flakeproofTake()

func flakeproofTake() []string {
	path := os.Getenv(flakeproofVariable)
	if path == "" {
		return nil
	}
	os.Unsetenv(flakeproofVariable)
	text, err := os.ReadFile(path)
	if err != nil {
		flakeproofSay("trouble", err.Error())
		os.Exit(70)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// flakeproofOrder gives the tests that are asked for: tests in the order asked for; fuzz targets
// and examples, which Go runs after them, in their own.
func flakeproofOrder(
	tests []InternalTest, targets []InternalFuzzTarget, examples []InternalExample,
) ([]InternalTest, []InternalFuzzTarget, []InternalExample) {
	if flakeproofAsked == nil {
		return tests, targets, examples
	}
	word, names := flakeproofAsked[0], flakeproofAsked[1:]
	if most, isSeed := strings.CutPrefix(word, "seed "); isSeed {
		flakeproofSeed(tests, names, most)
		os.Exit(0)
	}
	places := make(map[string]int)
	for at, name := range names {
		places[name] = at
	}
	ordered := make([]InternalTest, len(names))
	left := len(names)
	for _, test := range tests {
		if at, is := places[test.Name]; is {
			ordered[at] = test
			left--
		}
	}
	someTests := ordered[:0]
	for _, test := range ordered {
		if test.F != nil {
			someTests = append(someTests, test)
		}
	}
	var someTargets []InternalFuzzTarget
	for _, target := range targets {
		if _, is := places[target.Name]; is {
			someTargets = append(someTargets, target)
			left--
		}
	}
	var someExamples []InternalExample
	for _, example := range examples {
		if _, is := places[example.Name]; is {
			someExamples = append(someExamples, example)
			left--
		}
	}
	if left > 0 {
		flakeproofSay("trouble", fmt.Sprintf("%d of the tests are not in this binary", left))
		os.Exit(70)
	}
	flakeproofSay("order", "")
	return someTests, someTargets, someExamples
}

// flakeproofSeed looks for a seed of -test.shuffle that puts these tests into this order.
func flakeproofSeed(tests []InternalTest, names []string, most string) {
	last, _ := strconv.ParseInt(most, 10, 64)
	wanted := make([]int, len(tests))
	for at, test := range tests {
		wanted[at] = -1
		for place, name := range names {
			if name == test.Name {
				wanted[at] = place
			}
		}
	}
	order := make([]int, len(tests))
	for seed := int64(1); seed <= last; seed++ {
		for at := range order {
			order[at] = wanted[at]
		}
		// As M.Run shuffles its tests.
		rng := rand.New(rand.NewSource(seed))
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		next := 0
		for _, place := range order {
			if place == next {
				next++
			} else if place >= 0 {
				break
			}
		}
		if next == len(names) {
			flakeproofSay("seed", strconv.FormatInt(seed, 10))
			return
		}
	}
	flakeproofSay("seed", "none")
}

// flakeproofSay tells flakeproof something, marked as testing marks its own lines for test2json.
func flakeproofSay(word, text string) {
	fmt.Fprintf(os.Stdout, "\x16=== FLAKEPROOF %s %s\n", word, text)
}
