package realsuite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// conformance runs the suite of package conformance on the cluster, each of its tests as one of ours, so
// that the list can name them.
func conformance(w *world) {
	if w.target.simulated {
		w.Skip("package conformance runs on every simulated release itself, in simulated time")
	}
	variables := []string{"SHARDBOARD_TEST_MONGODB_URI=" + w.cluster.URI()}
	if w.form.whole {
		variables = append(variables, longVariable+"=1") // it moves whole collections too
	}
	runOther(w, "../conformance", `Test/^real$`, variables...)
}

// finished is the line of a test's end in the output of go test -v.
var finished = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (Test\w+)((?:/\S+)?) \(`)

// runOther runs tests of another package on the cluster as tests of this one.
func runOther(w *world, pkg, pattern string, variables ...string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "go", "test", "-count=1", "-v", "-vet=off", "-timeout", "30m", "-run", pattern, pkg)
	if ready := os.Getenv(programsVariable); ready != "" {
		cmd = exec.CommandContext(w.Context(), filepath.Join(ready, filepath.Base(pkg)+".test"),
			"-test.v", "-test.timeout", "30m", "-test.run", pattern)
	}
	cmd.Env = append(os.Environ(), variables...)
	out, err := cmd.CombinedOutput()
	text := string(out)
	ran := 0
	for _, m := range finished.FindAllStringSubmatchIndex(text, -1) {
		result, test, sub := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
		if result == "SKIP" || sub == "" && strings.Contains(text, test+"/") {
			continue // its parts are judged
		}
		ran++
		w.t.Run(test+sub, func(t *testing.T) {
			if result == "FAIL" {
				judge(t, w.target.name()).Errorf("%s", linesOf(text, test+sub))
			}
		})
	}
	switch {
	case ran == 0:
		w.Fatalf("no test of %s ran: %v\n%s", pkg, err, tailOf(text))
	case err != nil && !strings.Contains(text, "--- FAIL: "):
		w.Errorf("%s: %v\n%s", pkg, err, tailOf(text))
	}
}

// linesOf is what a test printed.
func linesOf(text, test string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "_test.go:") {
			out = append(out, strings.TrimSpace(line))
		}
		if strings.Contains(line, "--- ") && strings.Contains(line, ": "+test+" (") {
			break
		}
		if strings.HasPrefix(line, "=== RUN") {
			out = nil
		}
	}
	return strings.Join(out, "\n")
}

func tailOf(text string) string { return text[max(0, len(text)-2000):] }

func TestOutputOfOtherTestsIsRead(t *testing.T) {
	const text = `=== RUN   TestA
=== RUN   TestA/real
    a_test.go:1: no
--- FAIL: TestA (0.1s)
    --- SKIP: TestA/5.0 (0.0s)
    --- FAIL: TestA/real (0.1s)
--- PASS: TestB (0.1s)
`
	var got []string
	for _, m := range finished.FindAllStringSubmatch(text, -1) {
		got = append(got, m[1]+" "+m[2]+m[3])
	}
	if want := "FAIL TestA, SKIP TestA/5.0, FAIL TestA/real, PASS TestB"; strings.Join(got, ", ") != want {
		t.Errorf("read %v, want %s", got, want)
	}
	expect.Equal(t, linesOf(text, "TestA/real"), "a_test.go:1: no", "its lines")
}
