package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAGameOfTheLabIsShownInEveryForm(t *testing.T) {
	code, out, errs := shardboard(t, "lab", "game", "--players=3")
	if code != 0 || !strings.Contains(out, "deck,hash(order)") || !strings.Contains(out, "order: One player takes nearly every card") {
		t.Errorf("table: exit %d, %s\n%s", code, errs, out)
	}
	code, out, _ = shardboard(t, "lab", "game", "--key=rank", "-o", "json")
	var g api.LabGame
	err := json.Unmarshal([]byte(out), &g)
	expect.That(t, code == 0 && err == nil && len(g.Items) == 4 && g.Items[3].Chosen &&
		g.Items[3].Key == "rank" && g.URL == "/lab/game?key=rank", "JSON: exit %d, %v, %+v", code, err, g.Items)
	code, out, _ = shardboard(t, "lab", "game", "--turns", "--decks=30", "-o", "csv")
	lines := strings.Count(out, "\n")
	expect.That(t, code == 0 && lines == 30*52+1 && strings.Contains(out, "split.at"), "CSV: exit %d, %d lines", code, lines)
	code, out, _ = shardboard(t, "lab", "game", "-o", "svg", "--show=chunks")
	expect.That(t, code == 0 && strings.HasPrefix(out, "<svg ") && strings.Contains(out, "Chunks of each player"),
		"SVG: exit %d, %.200s", code, out)
	code, out, _ = shardboard(t, "lab", "game", "--queries", "--key=suit")
	expect.That(t, code == 0 && strings.Contains(out, "suit") && strings.Contains(out, "MEAN"), "queries: exit %d\n%s", code, out)
	code, out, _ = shardboard(t, "lab", "game", "--load", "--players=2", "--decks=3", "-o", "csv")
	expect.That(t, code == 0 && strings.Count(out, "\n") == 7, "load: exit %d\n%s", code, out)
}

func TestAGameOfTheLabTakesRowsOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	must.Do(t, os.WriteFile(file, []byte("project,doc\n"+strings.Repeat("atlas,d1\n", 1000)), 0o600))
	code, out, errs := shardboard(t, "lab", "game", "--csv", file, "--key=project")
	expect.That(t, code == 0 && strings.Contains(out, "project: One chunk cannot be split: all its cards have one key."),
		"exit %d, %s\n%s", code, errs, out)
	must.Do(t, os.WriteFile(file, []byte("a\n"+strings.Repeat("12345678\n", 1<<17)), 0o600))
	if code, _, errs := shardboard(t, "lab", "game", "--csv", file); code != 2 || errs != "shardboard: csv is longer than 1048576 bytes.\n" {
		t.Errorf("a file that is too long: exit %d, %s", code, errs)
	}
}

func TestWrongInputsOfTheLabAreNamedWithTheirLimits(t *testing.T) {
	says(t, 2, "Give one of --turns", "lab", "game", "--turns", "--load")
	for arg, says := range map[string]string{ // the others are those of the page
		"--players=61":     `players must be a number from 1 to 60, not "61".`,
		"--dealers=none":   `dealers must be a number from 1 to 60, not "none".`,
		"--key=colour":     `key must be made of the fields order, deck, suit, rank, not of "colour".`,
		"--show=cards":     `--show goes with --output=svg.`,
		"--csv=/no/such/f": `The file /no/such/f cannot be read.`,
	} {
		code, out, errs := shardboard(t, "lab", "game", arg)
		expect.That(t, code == 2 && out == "" && errs == "shardboard: "+says+"\n", "%s: exit %d\n%s%s", arg, code, out, errs)
	}
}

func TestKeysAreComparedWithoutAServer(t *testing.T) {
	few := []string{"lab", "keys", "--collection=changes", "--projects=5", "--per-project=4", "--per-document=50"}
	code, out, errs := shardboard(t, few...)
	expect.That(t, code == 0 && strings.Contains(out, "{project_id: 1, doc_id: 1}: The unique index {doc_id, project_id, server_seq}"),
		"table: exit %d, %s\n%s", code, errs, out)
	code, out, _ = shardboard(t, append(few, `--key={"server_seq":1}`, `--key={"doc_id":1,"_id":1}`, "-o", "json")...)
	var a api.LabKeys
	err := json.Unmarshal([]byte(out), &a)
	expect.That(t, code == 0 && err == nil && a.Of == 1000 && a.Exact && len(a.Inputs.Keys) == 2 && len(a.Items) == 10,
		"JSON: exit %d, %v, %d keys of %d rows", code, err, len(a.Items), a.Of)
	code, out, _ = shardboard(t, append(few, "-o", "csv")...)
	lines := strings.Count(out, "\n")
	expect.That(t, code == 0 && lines == 9 && strings.HasPrefix(out, "name,key,"), "CSV: exit %d, %d lines", code, lines)
	code, out, _ = shardboard(t, append(few, "--queries", "-o", "csv")...)
	lines = strings.Count(out, "\n")
	expect.That(t, code == 0 && lines == 1+8*4, "queries: exit %d, %d lines", code, lines)
	if code, _, errs := shardboard(t, "lab", "keys", "--skew=4"); code == 0 || !strings.Contains(errs, `skew must be a number from 0 to 3, not "4".`) {
		t.Errorf("a skew of 4: exit %d, %s", code, errs)
	}
}

func TestWhereIDsLandIsShown(t *testing.T) {
	code, out, errs := shardboard(t, "lab", "ids", "--inserts=1000", "-o", "csv")
	expect.That(t, code == 0 && strings.Count(out, "\n") == 6 && strings.HasPrefix(out, "kind,text,busiestShare"),
		"exit %d, %s\n%s", code, errs, out)
}

// The table, the JSON and the CSV of a shell are one prediction, of the cluster itself as of a server.
func TestGrowthIsPredictedInAShell(t *testing.T) {
	uri := startCluster(t)
	ask := func(args ...string) string {
		t.Helper()
		code, out, errs := shardboard(t, append([]string{"lab", "growth", "--uri", uri}, args...)...)
		must.That(t, code == 0, "%v: exit %d, %s", args, code, errs)
		return out
	}
	var a api.LabGrowth
	must.Do(t, json.Unmarshal([]byte(ask("--add", "2", "--growth", "1.5", "--output", "json")), &a))
	expect.That(t, a.Moves != 0 && len(a.Items) == a.Moves && len(a.Shards) == 5 && a.Inputs.Growth == 1.5,
		"%d of %d moves, %d shards, growth %g", len(a.Items), a.Moves, len(a.Shards), a.Inputs.Growth)
	csv := ask("--add", "2", "--growth", "1.5", "--output", "csv")
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if len(lines) != a.Moves+1 || !strings.HasPrefix(lines[0], "move,group,ns,chunk,min,") {
		t.Errorf("%d lines of CSV for %d moves: %s", len(lines), a.Moves, lines[0])
	}
	table := ask("--add", "2", "--growth", "1.5", "--moves", "3")
	expect.ContainsAll(t, table, []string{"Shards\n", "Groups\n", "Moves\n", "added-2", "move, then load: ", a.Needed.Text}, "the table")
	_, moves, _ := strings.Cut(table, "\nMoves\n")
	expect.Equal(t, strings.Count(strings.TrimSpace(moves), "\n"), 3, "moves in the table")
	project := strings.SplitN(ask("--project", "atlas-board", "--factor", "3", "--output", "json"), `"project":`, 2)
	expect.Equal(t, len(project), 2, "inputs when a project is named")
	says(t, 2, "add must be", "lab", "growth", "--uri", uri, "--add", "900")
}

func TestIDsAreMadeAgainFromTheirFields(t *testing.T) {
	again := []string{"id", "--count=4", "--time=1367111039966", "--process=31359", "--mac=d:53:7a:50", "--counter=2417483735"}
	code, out, errs := shardboard(t, again...)
	want := "c8c9cef9-7a7f-bd53-7a50-013e4e2afbde\n14951cfa-7a7f-bd53-7a50-013e4e2afbde\n" +
		"6f5169fb-7a7f-bd53-7a50-013e4e2afbde\nba2da6fc-7a7f-bd53-7a50-013e4e2afbde\n"
	expect.That(t, code == 0 && out == want, "exit %d, %s\n%s", code, errs, out)
	code, out, errs = shardboard(t, "id", "--mode=sequential", "--time=2013-04-28T01:04:00.038Z", "--output=csv")
	lines := strings.Split(out, "\n")
	expect.That(t, code == 0 && len(lines) == 3 && strings.HasPrefix(lines[1], "f5166776-") &&
		strings.Contains(lines[1], ",sequential,4111886198,"), "exit %d, %s\n%s", code, errs, out)
}

func TestIDsOfThisMachineDiffer(t *testing.T) {
	code, out, _ := shardboard(t, "id", "-n", "1000")
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		seen[line] = true
	}
	expect.That(t, code == 0 && len(seen) == 1000, "exit %d, %d different ids", code, len(seen))
}

func TestAnIDIsTakenApart(t *testing.T) {
	code, out, errs := shardboard(t, "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2", "F516677A-7A7F-BD53-7A50-013E4E2AFC26", "-o", "json")
	var list struct{ Items []api.LocalityID }
	must.That(t, code == 0 && json.Unmarshal([]byte(out), &list) == nil && len(list.Items) == 2, "exit %d, %s\n%s", code, errs, out)
	first, second := list.Items[0], list.Items[1]
	if first.Mode != "unknown" ||
		first.Counter != 3_488_672_514 || first.Process != 12_618 || first.UnixMillis != 1_350_327_498_450 || first.MAC != "__:__:_d:53:7a:50" ||
		first.Time.Format("2006-01-02T15:04:05.000Z") != "2012-10-15T18:58:18.450Z" || first.Window != nil {
		t.Errorf("default mode: %+v", first)
	}
	expect.That(t, second.Mode == "sequential" && second.Counter == 0xf516677a && second.Number != nil && *second.Number == 5 &&
		second.Window.Format("15:04") == "01:00", "sequential mode: %+v", second)
	saysAll(t, 0, []string{"3,488,672,514", "2012-10-15T18:58:18Z"}, "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2")
}

func TestWrongFieldsOfIDsAreNamedWithTheirLimits(t *testing.T) {
	for arg, says := range map[string]string{
		"--count=0":                   `count must be a number from 1 to 100000, not "0".`,
		"--count=x":                   `count must be a number from 1 to 100000, not "x".`,
		"--mode=fast":                 `mode must be default or sequential, not "fast".`,
		"--time=yesterday":            `time must be a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970, not "yesterday".`,
		"--time=1969-01-01T00:00:00Z": `time must be from 1970 to 10889, not "1969-01-01T00:00:00Z".`,
		"--process=65536":             `process must be a number from 0 to 65535, not "65536".`,
		"--counter=4294967296":        `counter must be a number from 0 to 4294967295, not "4294967296".`,
		"--mac=12345678":              `mac must be a MAC address such as 02:00:5e:10:00:01, or its last 1 to 7 hexadecimal digits, not "12345678".`,
		"20be0ffc":                    `id must be a UUID of 32 hexadecimal digits, not "20be0ffc".`,
		"507f1f77-bcf8-4cd7-8994-39011013a65c": "507f1f77-bcf8-4cd7-8994-39011013a65c is no locality UUID: its 13th digit must be b, " +
			"and its last 12 digits a time from 2012 to tomorrow.",
	} {
		code, out, errs := shardboard(t, "id", arg)
		expect.That(t, code == 2 && out == "" && errs == "shardboard: "+says+"\n", "%s: exit %d\n%s%s", arg, code, out, errs)
	}
	says(t, 2, "--count", "id", "20be0ffc-314a-bd53-7a50-013a65ca76d2", "--count=2")
}
