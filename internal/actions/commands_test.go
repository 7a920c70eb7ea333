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
	"shardboard/internal/fixture/expect"
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
		expect.That(t, slices.Contains(ops, op), "%s is not in the file", op)
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
	expect.That(t, wait.Send(t.Context(), nil, "run", operation.Command{}) != nil, "a step that waits was sent")
}

func TestWhatChangedIsToldInASentence(t *testing.T) {
	chunk := operation.Fact{Kind: operation.FactChunk, NS: "db.c"}
	for _, x := range []struct {
		d    operation.Difference
		says string
	}{
		{operation.Difference{Fact: chunk, Field: "exists", Want: "true", Got: "false"}, "of db.c no longer exists."},
		{operation.Difference{Fact: chunk, Field: "exists", Want: "true"}, "of db.c no longer exists."},
		{operation.Difference{Fact: operation.Fact{Kind: operation.FactEdge, NS: "db.c"}, Field: "exists", Want: "false", Got: "true"},
			"of db.c exists now."},
		{operation.Difference{Fact: chunk, Field: "shard", Want: "a", Got: "b"}, "shard: expected a, found b."},
		{operation.Difference{Field: "hash", Want: "abc", Got: "000"}, "hash is abc, but 000 was given"},
		{operation.Difference{Field: "hash", Want: "abc"}, "none was given"},
		{operation.Difference{Field: "clusterId", Want: "abc", Got: "def"}, "for the cluster abc, but the cluster def answers"},
		{operation.Difference{Field: "expiresAt", Want: "10:00", Got: "11:00"}, "expired at 10:00; it is now 11:00"},
		{operation.Difference{Field: "command", Want: "{a}", Got: "{b}"}, "{a} would now be {b}"},
		{operation.Difference{Field: "command", Want: "{a}"}, "{a} would no longer be sent"},
		{operation.Difference{Field: "command", Got: "{b}"}, "{b} would now be sent"},
	} {
		if got := x.d.Text().String(); !strings.Contains(got, x.says) || strings.HasPrefix(got, ":") || strings.Contains(got, "there: expected") {
			t.Errorf("%+v: %q, want %q", x.d, got, x.says)
		}
	}
	if got := operation.FieldText("exists", "true") + operation.FieldText("exists", "false"); strings.Contains(got, "true") ||
		strings.Contains(got, "false") {
		t.Errorf("%q", got)
	}
}
