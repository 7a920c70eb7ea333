package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinksOfPagesGoThroughOneFunction: a link past it would lead out of the time
// that is looked at. Those of the bar of times and of what is watched are about just
// that.
func TestLinksOfPagesGoThroughOneFunction(t *testing.T) {
	files, err := filepath.Glob("*/*.templ")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	own := []string{"templates/timeline.templ", "templates/watching.templ"}
	past := regexp.MustCompile(`href="/|action="/|action=\{ templ\.|<a [^>]*href=\{ templ\.`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if past.MatchString(line) && !slices.Contains(own, file) {
				t.Errorf("%s:%d: a link that is not made by templates.To", file, i+1)
			}
			if strings.Contains(line, `method="get" action=`) && !slices.Contains(own, file) && !strings.Contains(string(source), "templates.Kept(") {
				t.Errorf("%s:%d: a filter without templates.Kept", file, i+1)
			}
		}
	}
}
