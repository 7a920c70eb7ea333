package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
)

func TestAGameOfTheLabIsShownInEveryForm(t *testing.T) {
	code, out, errs := shardboard(t, "lab", "game", "--players=3")
	if code != 0 || !strings.Contains(out, "deck,hash(order)") || !strings.Contains(out, "order: One player takes nearly every card") {
		t.Errorf("table: exit %d, %s\n%s", code, errs, out)
	}
	code, out, _ = shardboard(t, "lab", "game", "--key=rank", "-o", "json")
	var g api.LabGame
	if err := json.Unmarshal([]byte(out), &g); code != 0 || err != nil || len(g.Items) != 4 || !g.Items[3].Chosen ||
		g.Items[3].Key != "rank" || g.URL != "/lab/game?key=rank" {
		t.Errorf("JSON: exit %d, %v, %+v", code, err, g.Items)
	}
	code, out, _ = shardboard(t, "lab", "game", "--turns", "--decks=30", "-o", "csv")
	if lines := strings.Count(out, "\n"); code != 0 || lines != 30*52+1 || !strings.Contains(out, "split.at") {
		t.Errorf("CSV: exit %d, %d lines", code, lines)
	}
	code, out, _ = shardboard(t, "lab", "game", "-o", "svg", "--show=chunks")
	if code != 0 || !strings.HasPrefix(out, "<svg ") || !strings.Contains(out, "Chunks of each player") {
		t.Errorf("SVG: exit %d, %.200s", code, out)
	}
	code, out, _ = shardboard(t, "lab", "game", "--queries", "--key=suit")
	if code != 0 || !strings.Contains(out, "suit") || !strings.Contains(out, "MEAN") {
		t.Errorf("queries: exit %d\n%s", code, out)
	}
	code, out, _ = shardboard(t, "lab", "game", "--load", "--players=2", "--decks=3", "-o", "csv")
	if code != 0 || strings.Count(out, "\n") != 7 {
		t.Errorf("load: exit %d\n%s", code, out)
	}
}

func TestAGameOfTheLabTakesRowsOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	must.Do(t, os.WriteFile(file, []byte("project,doc\n"+strings.Repeat("atlas,d1\n", 1000)), 0o600))
	code, out, errs := shardboard(t, "lab", "game", "--csv", file, "--key=project")
	if code != 0 || !strings.Contains(out, "project: One chunk cannot be split: all its cards have one key.") {
		t.Errorf("exit %d, %s\n%s", code, errs, out)
	}
	must.Do(t, os.WriteFile(file, []byte("a\n"+strings.Repeat("12345678\n", 1<<17)), 0o600))
	if code, _, errs := shardboard(t, "lab", "game", "--csv", file); code != 2 || errs != "shardboard: csv is longer than 1048576 bytes.\n" {
		t.Errorf("a file that is too long: exit %d, %s", code, errs)
	}
}

func TestWrongInputsOfTheLabAreNamedWithTheirLimits(t *testing.T) {
	if code, _, errs := shardboard(t, "lab", "game", "--turns", "--load"); code != 2 || !strings.Contains(errs, "Give one of --turns") {
		t.Errorf("two parts: exit %d, %s", code, errs)
	}
	for arg, says := range map[string]string{ // the others are those of the page
		"--players=61":     `players must be a number from 1 to 60, not "61".`,
		"--dealers=none":   `dealers must be a number from 1 to 60, not "none".`,
		"--key=colour":     `key must be made of the fields order, deck, suit, rank, not of "colour".`,
		"--show=cards":     `--show goes with --output=svg.`,
		"--csv=/no/such/f": `The file /no/such/f cannot be read.`,
	} {
		code, out, errs := shardboard(t, "lab", "game", arg)
		if code != 2 || out != "" || errs != "shardboard: "+says+"\n" {
			t.Errorf("%s: exit %d\n%s%s", arg, code, out, errs)
		}
	}
}
