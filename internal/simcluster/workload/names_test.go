package workload

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

func TestProjectNamesAreUniqueAndAsYorkieTakesThem(t *testing.T) {
	valid, seen, longest := regexp.MustCompile(`^[a-z0-9._~-]{2,30}$`), map[string]bool{}, 0
	for i := range 1000 {
		name := projectName(i)
		if seen[name] || !valid.MatchString(name) {
			t.Errorf("project %d is named %q", i, name)
		}
		seen[name], longest = true, max(longest, len(name))
	}
	if longest < 28 {
		t.Errorf("the longest name has %d characters", longest)
	}
}

func TestDocumentKeysAreUniqueInAProjectAndOfManyForms(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9._~-]{4,120}$`)
	var spaces, slashes, other int
	for n := range 20 {
		p, seen := &project{name: projectName(n)}, map[string]bool{}
		for i := range 500 {
			key := documentKey(p, i, false)
			if seen[key] || strings.Contains(key, "%!") || key != documentKey(p, i, false) {
				t.Errorf("document %d of %s has the key %q", i, p.name, key)
			}
			seen[key] = true
			switch {
			case strings.Contains(key, " "):
				spaces++
			case strings.Contains(key, "/"):
				slashes++
			}
			if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) {
				other++
			}
			if key := documentKey(p, i, true); !valid.MatchString(key) {
				t.Errorf("no client may attach to %q", key)
			}
		}
	}
	if spaces == 0 || slashes == 0 || other == 0 {
		t.Errorf("%d keys with spaces, %d with slashes, %d in other scripts", spaces, slashes, other)
	}
}
