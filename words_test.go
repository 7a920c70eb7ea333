package shardboard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// otherWords are words that no text for people has, with what it says instead. docs/words.md has the whole list; a word
// that is right in some texts is left to review.
var otherWords = map[*regexp.Regexp]string{
	regexp.MustCompile(`(?i)\bnobody knows\b|\b(could not|as can) be told\b`):                                  "not known, could not be checked",
	regexp.MustCompile(`(?i)\bcensus\b`):                                                                       "survey",
	regexp.MustCompile(`(?i)\bis sick\b|\bdoes not hinder\b|\bwas to be\b`):                                    "is down; OK; expected",
	regexp.MustCompile(`(?i)\bhow counted\b|\bgoes on with\b`):                                                 "counted; resumes at",
	regexp.MustCompile(`(?i)\broll(s|ed|ing)? back\b|\bsign-off\b`):                                            "undo; approval",
	regexp.MustCompile(`(?i)\bcustomers?\b|\bshardkey\b|\bpermission level\b|\bmetadata cache\b|\ba lookup\b`): "project; shard key; role; routing table; locate",
}

// shownTo are the folders whose strings people see, without the folders of them that speak to programs and developers.
var (
	shownTo = []string{"cmd/shardboard/", "internal/", "web/"}
	unseen  = []string{"internal/simcluster/", "internal/conformance/", "internal/store/", "internal/cluster/", "web/webtest/",
		"web/storybook/"}
)

func TestTextsUseTheWordsOfTheGlossary(t *testing.T) {
	glossary := must.Get(os.ReadFile("docs/words.md"))
	for _, term := range []string{"move", "survey", "project", "person", "problem", "estimate"} {
		expect.Contains(t, string(glossary), "**"+term, "docs/words.md does not say what %s means", term)
	}
	texts := 0
	for _, file := range handWritten(t, ".go", ".templ") {
		if strings.HasSuffix(file, "_test.go") || !startsWithAny(file, shownTo) || startsWithAny(file, unseen) {
			continue
		}
		for place, text := range textsOf(t, file) {
			texts++
			for other, instead := range otherWords {
				if word := other.FindString(text); word != "" {
					t.Errorf("%s: %q in %q; docs/words.md says: %s", place, word, text, instead)
				}
			}
		}
	}
	expect.That(t, texts >= 5000, "only %d texts were found", texts)
}

func startsWithAny(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(file, f) })
}

// textsOf are the strings with a space of a file, by their place. A template's texts are strings in the file generated
// from it.
func textsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	file = strings.Replace(file, ".templ", "_templ.go", 1)
	files := token.NewFileSet()
	f := must.Get(parser.ParseFile(files, file, nil, 0))
	texts := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			if text, _ := strconv.Unquote(s.Value); strings.Contains(strings.TrimSpace(text), " ") {
				texts[files.Position(s.Pos()).String()] = text
			}
		}
		return true
	})
	return texts
}
