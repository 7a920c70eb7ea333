package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/web/words"
)

var firstText = regexp.MustCompile(`^"([A-Za-z][A-Za-z0-9.-]*)"`)
var secondText = regexp.MustCompile(`^[^"]*?(?:\([^)]*\))?, "([A-Za-z][A-Za-z0-9]*)"`)

// TestEveryCodeOfAdviceHasItsSentence looks into the sources of package rules
// for codes, since most rules do not fire in any one situation.
func TestEveryCodeOfAdviceHasItsSentence(t *testing.T) {
	files, err := filepath.Glob("../internal/rules/*.go")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(b), "say(")[1:] {
			if m := firstText.FindStringSubmatch(part); m != nil && !strings.HasSuffix(m[1], ".") {
				checked++
				if !hasAny(m[1], "say", "why", "fig", "plan", "not", "cmd", "cannot") {
					t.Errorf("%s: no sentence for %q", name, m[1])
				}
			}
		}
		for call, prefix := range map[string]string{"l.counted(": "fig", "l.text(": "fig"} {
			for _, part := range strings.Split(string(b), call)[1:] {
				if m := firstText.FindStringSubmatch(part); m != nil {
					checked++
					if !hasAny(m[1], prefix) {
						t.Errorf("%s: no sentence for the figure %q", name, m[1])
					}
				}
			}
		}
		for _, part := range strings.Split(string(b), "l.cannot(")[1:] {
			if m := secondText.FindStringSubmatch(strings.TrimPrefix(part, `""`)); m != nil {
				checked++
				if !hasAny(m[1], "cannot") {
					t.Errorf("%s: no sentence for cannot %q", name, m[1])
				}
			}
		}
		for _, m := range regexp.MustCompile(`(?:check|do)\(.*, "([a-zA-Z0-9]+\.[a-zA-Z0-9]+)"\)`).FindAllStringSubmatch(string(b), -1) {
			checked++
			if !hasAny(m[1], "cmd") {
				t.Errorf("%s: no sentence for the command %q", name, m[1])
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d codes found: the scan is broken", checked)
	}
	for _, r := range rules.Rules() {
		if !words.Has("advice.rule." + string(r)) {
			t.Errorf("no name for the rule %s", r)
		}
	}
	for _, fix := range []string{profile.FixShard, profile.FixRefine, profile.FixReshard, profile.FixMerge, profile.FixDrop} {
		if !words.Has("advice.cmd.drift." + fix) {
			t.Errorf("no sentence for the fix %s", fix)
		}
	}
	for _, find := range []string{profile.FindUnsharded, profile.FindDifferent, profile.FindSharded, profile.FindNewer} {
		if !words.Has("advice.say.drift." + find) {
			t.Errorf("no sentence for the finding %s", find)
		}
	}
}

func hasAny(code string, prefixes ...string) bool {
	for _, p := range prefixes {
		if words.Has("advice." + p + "." + code) {
			return true
		}
	}
	return false
}
