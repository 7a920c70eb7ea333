package realsuite_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

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
	if !ok || len(w.Jobs) != 1 || job.RunsOn == "" || job.TimeoutMinutes == 0 || len(w.On) == 0 {
		t.Fatalf("the workflow has the jobs %v and runs on %v", w.Jobs, w.On)
	}
	if w.Permissions["contents"] != "read" || len(w.Permissions) != 1 {
		t.Errorf("it may %v, want to read only", w.Permissions)
	}
	var releases, measured []string
	for _, m := range job.Strategy.Matrix.Include {
		releases = append(releases, m.Release)
		if m.Measured {
			measured = append(measured, m.Release)
		}
	}
	if !slices.Equal(releases, []string{"5.0", "6.0", "7.0", "8.0", "9.0"}) || !slices.Equal(measured, []string{"5.0", "8.0"}) {
		t.Errorf("it runs on %v, of which %v are measured", releases, measured)
	}
	if job.Strategy.FailFast || job.ContinueOnError != "${{ !matrix.measured }}" {
		t.Errorf("a failing release ends others, or one without a list fails the run: %q", job.ContinueOnError)
	}
	runs := 0
	for _, s := range job.Steps {
		if s.Run == "make test-real" && s.Env["MONGODB_IMAGE"] == "mongo:${{ matrix.release }}" {
			runs++
		}
		if s.Uses != "" && !strings.Contains(s.Uses, "@v") {
			t.Errorf("%s has no version", s.Uses)
		}
	}
	expect.Equal(t, runs, 1, "steps that run the suite with the image of the release")
	expect.Contains(t, string(text), "Not run yet", "it does not say that it was not run")
}

// What the scripts and the Makefile name has to be there.
func TestMakeRunsTheScripts(t *testing.T) {
	text := must.Get(os.ReadFile("../../Makefile"))
	for target, script := range map[string]string{"test-real": "scripts/test-real", "record": "scripts/record"} {
		if !strings.Contains(string(text), "\n"+target+":") || !strings.Contains(string(text), "sh "+script) {
			t.Errorf("make %s does not run %s", target, script)
		}
		if _, err := os.Stat("../../" + script); err != nil {
			t.Error(err)
		}
	}
}
