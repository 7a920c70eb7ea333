package actions_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
)

// testdata/commands.txt has the command of every operation, or why there is none, by release.
func TestCommandsOfEveryReleaseAreThoseOfTheFile(t *testing.T) {
	var out strings.Builder
	var ops []operation.Op
	for _, s := range change.Every() {
		ops = append(ops, s.Op)
		var texts, releases []string
		for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0.9", "8.0.12", "8.3"} {
			cmd, err := s.Command(balance.ReleaseOf(release))
			text := cmd.DB + " " + cmd.Doc.String()
			if err != nil {
				text = "refused: " + fault.Text(err)
			}
			if i := slices.Index(texts, text); i >= 0 {
				releases[i] += " " + release
			} else {
				texts, releases = append(texts, text), append(releases, release)
			}
		}
		for i, text := range texts {
			fmt.Fprintf(&out, "%s, %s: %s\n", s.Op, releases[i], text)
		}
	}
	for _, op := range operation.Operations() {
		if !slices.Contains(ops, op) {
			t.Errorf("%s is not in the file", op)
		}
	}
	const file = "testdata/commands.txt"
	if flag.Lookup("update").Value.String() == "true" {
		must.Do(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != out.String() {
		t.Errorf("%s differs (%v); run with -update and look at what changed; it is now\n%s", file, err, out.String())
	}
}

func TestStepsWithoutACommandAreNotSent(t *testing.T) {
	r := balance.Release{8, 0, 0}
	if _, err := (operation.Step{Op: operation.OpBalancerWindow, Start: "1:00", Stop: "25:00"}).Command(r); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	if _, err := (operation.Step{Op: "format"}).Command(r); err == nil {
		t.Error("an operation that does not exist has a command")
	}
	wait := operation.Step{Op: operation.OpAwait}
	if cmd, err := wait.Command(r); err != nil || cmd.Doc != nil {
		t.Error(cmd, err)
	}
	if err := wait.Send(t.Context(), nil, "run", operation.Command{}); err == nil {
		t.Error("a step that waits was sent")
	}
}
