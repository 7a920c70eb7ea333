package main

import (
	"encoding/json"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// The table, the JSON and the CSV of a shell are one prediction, of the cluster itself as of a server.
func TestGrowthIsPredictedInAShell(t *testing.T) {
	uri := startCluster(t)
	ask := func(args ...string) string {
		t.Helper()
		code, out, errs := shardboard(t, append([]string{"lab", "growth", "--uri", uri}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		return out
	}
	var a api.LabGrowth
	must.Do(t, json.Unmarshal([]byte(ask("--add", "2", "--growth", "1.5", "--output", "json")), &a))
	if a.Moves == 0 || len(a.Items) != a.Moves || len(a.Shards) != 5 || a.Inputs.Growth != 1.5 {
		t.Errorf("%d of %d moves, %d shards, growth %g", len(a.Items), a.Moves, len(a.Shards), a.Inputs.Growth)
	}
	csv := ask("--add", "2", "--growth", "1.5", "--output", "csv")
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if len(lines) != a.Moves+1 || !strings.HasPrefix(lines[0], "move,group,ns,chunk,min,") {
		t.Errorf("%d lines of CSV for %d moves: %s", len(lines), a.Moves, lines[0])
	}
	table := ask("--add", "2", "--growth", "1.5", "--moves", "3")
	for _, want := range []string{"Shards\n", "Groups\n", "Moves\n", "added-2", "move, then load: ", a.Needed.Text} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	_, moves, _ := strings.Cut(table, "\nMoves\n")
	expect.Equal(t, strings.Count(strings.TrimSpace(moves), "\n"), 3, "moves in the table")
	project := strings.SplitN(ask("--project", "atlas-board", "--factor", "3", "--output", "json"), `"project":`, 2)
	expect.Equal(t, len(project), 2, "inputs when a project is named")
	if code, _, errs := shardboard(t, "lab", "growth", "--uri", uri, "--add", "900"); code != 2 || !strings.Contains(errs, "add must be") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
