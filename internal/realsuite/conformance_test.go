package realsuite_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
	want := "FAIL TestA, SKIP TestA/5.0, FAIL TestA/real, PASS TestB"
	expect.Equal(t, strings.Join(got, ", "), want, "read %v, want %s", got, want)
	expect.Equal(t, linesOf(text, "TestA/real"), "a_test.go:1: no", "its lines")
}

// workflow is what the test looks at of the workflow file. "on" is a word that YAML 1.1 reads as true;
// this parser keeps it.
type workflow struct {
	Name        string
	On          map[string]yaml.Node
	Permissions map[string]string
	Jobs        map[string]struct {
		Name            string
		RunsOn          string `yaml:"runs-on"`
		TimeoutMinutes  int    `yaml:"timeout-minutes"`
		ContinueOnError string `yaml:"continue-on-error"`
		Strategy        struct {
			FailFast bool `yaml:"fail-fast"`
			Matrix   struct {
				Include []struct {
					Release  string
					Measured bool
				}
			}
		}
		Steps []struct {
			Name, Uses, If, Run string
			With, Env           map[string]string
		}
	}
}

func TestWorkflowRunsTheSuiteOnEveryRelease(t *testing.T) {
	text := must.Get(os.ReadFile("../../.github/workflows/real-mongodb.yml"))
	var w workflow
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	must.Do(t, d.Decode(&w))
	job, ok := w.Jobs["suite"]
	must.That(t, ok && len(w.Jobs) == 1 && job.RunsOn != "" && job.TimeoutMinutes != 0 && len(w.On) != 0,
		"the workflow has the jobs %v and runs on %v", w.Jobs, w.On)
	expect.That(t, w.Permissions["contents"] == "read" && len(w.Permissions) == 1, "it may %v, want to read only", w.Permissions)
	var releases, measured []string
	for _, m := range job.Strategy.Matrix.Include {
		releases = append(releases, m.Release)
		if m.Measured {
			measured = append(measured, m.Release)
		}
	}
	expect.That(t, slices.Equal(releases, []string{"5.0", "6.0", "7.0", "8.0", "9.0"}) && slices.Equal(measured, []string{"5.0", "8.0"}),
		"it runs on %v, of which %v are measured", releases, measured)
	expect.That(t, !job.Strategy.FailFast && job.ContinueOnError == "${{ !matrix.measured }}",
		"a failing release ends others, or one without a list fails the run: %q", job.ContinueOnError)
	runs := 0
	for _, s := range job.Steps {
		if s.Run == "make test-real" && s.Env["MONGODB_IMAGE"] == "mongo:${{ matrix.release }}" {
			runs++
		}
		expect.That(t, s.Uses == "" || strings.Contains(s.Uses, "@v"), "%s has no version", s.Uses)
	}
	expect.Equal(t, runs, 1, "steps that run the suite with the image of the release")
	expect.Contains(t, string(text), "Not run yet", "it does not say that it was not run")
}

// What the scripts and the Makefile name has to be there.
func TestMakeRunsTheScripts(t *testing.T) {
	text := must.Get(os.ReadFile("../../Makefile"))
	for target, script := range map[string]string{"test-real": "scripts/test-real", "record": "scripts/record"} {
		expect.That(t, strings.Contains(string(text), "\n"+target+":") && strings.Contains(string(text), "sh "+script),
			"make %s does not run %s", target, script)
		expect.NoError(t, must.Err(os.Stat("../../"+script)), "Stat")
	}
}
