package realsuite_test

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

//go:embed known_failures.txt
var knownText string

// knownFailure is one line of the list.
type knownFailure struct {
	release, test, reason string
	always                bool
}

func parseKnown(text string) (all []knownFailure, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[1] != "always" && fields[1] != "sometimes" {
			return nil, fmt.Errorf("line %d needs a release, always or sometimes, a test and a reason: %q", n, line)
		}
		all = append(all, knownFailure{fields[0], fields[2], strings.Join(fields[3:], " "), fields[1] == "always"})
	}
	return all, nil
}

// knownOf finds the entry for a test of a release; nil if it has to pass.
func knownOf(all []knownFailure, release, test string) *knownFailure {
	for _, k := range all {
		if k.release != "*" && k.release != release && !strings.HasPrefix(release, k.release+".") {
			continue
		}
		if k.test == test || strings.HasPrefix(test, k.test+"/") {
			return &k
		}
	}
	return nil
}

// judged is a test that may be in the list. A failure that is known is logged and does not fail the run.
type judged struct {
	testing.TB
	known *knownFailure // nil: a failure is one

	mu     sync.Mutex
	failed bool
}

// judge wraps a test of a release. The names below the release are those of the list.
func judge(t testing.TB, release string) *judged {
	t.Helper()
	all, err := parseKnown(knownText)
	must.That(t, err == nil, "known_failures.txt:  %v", err)
	_, below, _ := strings.Cut(t.Name(), "/"+release+"/")
	return judgeBy(t, knownOf(all, release, below))
}

func judgeBy(t testing.TB, known *knownFailure) *judged {
	j := &judged{TB: t, known: known}
	if known != nil && known.always {
		t.Cleanup(func() {
			expect.That(t, j.Failed() || t.Skipped(),
				"this passes, and the list says that it always fails (%s): remove the line of known_failures.txt", known.reason)
		})
	}
	return j
}

func (j *judged) Failed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed || j.TB.Failed()
}

// note logs a known failure; it is false for one that is not known.
func (j *judged) note(text string) bool {
	j.TB.Helper()
	if j.known == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = true
	j.TB.Logf("known to fail (%s): %s", j.known.reason, text)
	return true
}

func (j *judged) Error(args ...any) {
	j.TB.Helper()
	if !j.note(fmt.Sprint(args...)) {
		j.TB.Error(args...)
	}
}

func (j *judged) Errorf(format string, args ...any) {
	j.TB.Helper()
	if !j.note(fmt.Sprintf(format, args...)) {
		j.TB.Errorf(format, args...)
	}
}

// Fatal ends the test. A known failure ends it as skipped, because a test cannot end in the middle and
// pass.
func (j *judged) Fatal(args ...any) {
	j.TB.Helper()
	if j.note(fmt.Sprint(args...)) {
		j.TB.SkipNow()
	}
	j.TB.Fatal(args...)
}

func (j *judged) Fatalf(format string, args ...any) {
	j.TB.Helper()
	j.Fatal(fmt.Sprintf(format, args...))
}

func (j *judged) Fail() { j.Error("failed") }

func (j *judged) FailNow() { j.Fatal("failed") }

func TestListOfKnownFailuresIsWellFormed(t *testing.T) {
	expect.NoError(t, must.Err(parseKnown(knownText)), "parseKnown")
	for _, text := range []string{"8.0", "8.0 never faults/x why", "8.0 always faults/x"} {
		_, err := parseKnown(text)
		expect.That(t, err != nil && strings.Contains(err.Error(), "line 1 needs"), "%q is read: %v", text, err)
	}
}

func TestKnownFailuresAreFoundByReleaseAndName(t *testing.T) {
	all, err := parseKnown("8.0 always open/faults why\n5.0.7 sometimes open/walk/seed-2 because it waits\n* sometimes open/heat x\n")
	must.Do(t, err)
	for _, c := range []struct {
		release, test string
		want          string
	}{
		{"8.0.10", "open/faults/donor-frozen", "why"}, {"8.0.10", "open/faults", "why"}, {"8.0.10", "open/faults2", ""},
		{"7.0.1", "open/faults", ""}, {"5.0.7", "open/walk/seed-2", "because it waits"}, {"5.0.8", "open/walk/seed-2", ""},
		{"simulated-8.0", "open/faults", ""}, {"simulated-8.0", "open/heat", "x"},
	} {
		got := ""
		if k := knownOf(all, c.release, c.test); k != nil {
			got = k.reason
		}
		expect.Equal(t, got, c.want, "%s on %s", c.test, c.release)
	}
}

// outcomeOf runs a test with an entry of the list on a stand-in and says how it ended.
func outcomeOf(known *knownFailure, test func(testing.TB)) string {
	s := &standIn{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(judgeBy(s, known))
	}()
	<-done
	for _, f := range s.cleanups {
		f()
	}
	switch {
	case s.failed:
		return "failed"
	case s.skipped:
		return "skipped"
	}
	return "passed"
}

func TestKnownFailuresDoNotFailTheRunAndSurprisesDo(t *testing.T) {
	passes := func(testing.TB) {}
	fails := func(t testing.TB) { t.Errorf("no") }
	ends := func(t testing.TB) { t.Fatal("no") }
	always, sometimes := &knownFailure{always: true}, &knownFailure{}
	for _, c := range []struct {
		what  string
		known *knownFailure
		test  func(testing.TB)
		want  string
	}{
		{"passes", nil, passes, "passed"}, {"fails", nil, fails, "failed"}, {"ends", nil, ends, "failed"},
		{"sometimes, passes", sometimes, passes, "passed"}, {"sometimes, fails", sometimes, fails, "passed"},
		{"sometimes, ends", sometimes, ends, "skipped"},
		{"always, passes", always, passes, "failed"}, {"always, fails", always, fails, "passed"}, {"always, ends", always, ends, "skipped"},
	} {
		expect.Equal(t, outcomeOf(c.known, c.test), c.want, "%s", c.what)
	}
}
