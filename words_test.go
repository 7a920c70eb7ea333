package shardboard_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// otherWords are words that texts for people do not use, with what they say instead; docs/words.md has the whole list.
// They are looked for in strings with a space: source and templates have all texts in such.
var otherWords = []struct {
	found   *regexp.Regexp
	instead string
	allowed []string // parts of texts in which the word is right
}{
	{regexp.MustCompile(`(?i)\bmigrations?\b`), "move", []string{
		"config.migrations", "startup migration", "new migration", "collection: config", "are not allowed", "are disallowed",
		"activity/migrations", "--migration-time", "known moves:", // names of MongoDB, of flags and of facts
	}},
	{regexp.MustCompile(`(?i)\bnobody knows\b|\bcould not be told\b|\bas can be told\b`), "not known, could not be checked", nil},
	{regexp.MustCompile(`(?i)\bswitched (on|off)\b`), "turned on, turned off", []string{"OIDC"}},
	{regexp.MustCompile(`(?i)\b(census|holdings)\b`), "survey; sizes by project", []string{"%w", "%s: "}},
	{regexp.MustCompile(`(?i)\btenants?\b`), "project", []string{"tenants and documents", "{tenant"}}, // names in a profile file
	{regexp.MustCompile(`(?i)\bshardkey\b`), "shard key", []string{"/", "."}},
	{regexp.MustCompile(`(?i)\bwas to be\b|\bdoes not hinder\b|\bhow counted\b|\bgoes on with\b|\bis sick\b`), "see docs/words.md", nil},
}

// shownTo are the folders whose strings people can see. The others speak to programs and developers.
var shownTo = []string{"cmd/shardboard/", "internal/", "web/"}

// unseen are folders and files within them whose strings no visitor sees.
var unseen = []string{"internal/simcluster/", "internal/conformance/", "internal/store/", "internal/cluster/", "internal/heat/holdings/",
	"web/webtest/", "web/storybook/"}

func TestTextsUseTheWordsOfTheGlossary(t *testing.T) {
	glossary, err := os.ReadFile("docs/words.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range shownTexts(t) {
		for _, w := range otherWords {
			word := w.found.FindString(text.words)
			if word == "" || containsAny(text.words, w.allowed) {
				continue
			}
			t.Errorf("%s: %q in %q; docs/words.md says: %s", text.place, word, text.words, w.instead)
		}
	}
	for _, term := range []string{"move", "survey", "project", "person", "problem", "estimate"} {
		if !strings.Contains(string(glossary), "**"+term) {
			t.Errorf("docs/words.md does not say what %s means", term)
		}
	}
}

// counted finds a count that is followed by a noun in the plural.
var counted = regexp.MustCompile(`(?:%d|%s|\{[A-Za-z]+\}) (?:[a-z]+ )?(chunks|shards|collections|projects|documents|rows|zones|` +
	`ranges|moves|splits|merges|steps|checks|plans|runs|entries|events|problems|rules|warnings|notes|alerts|sessions|tokens|users|` +
	`records|ids|parts|databases|points|cells|tries|keys|pins|heads)\b`)

// pairedForms are whole texts that are used for a count above 1: the script of the map has “1 chunk” too, and a list of
// shards is counted from nine on.
var pairedForms = []string{"{n} chunks", "%d shards"}

// alwaysMany are texts whose number is never 1: limits of the program, and what is said of several things only.
var alwaysMany = []string{
	"heads that were given",
	"hash values", "at most %d", "at most %s", "More than %d", "{most}", "one plan splits %d", "{n} points",
	"{n} ranges", "{n} shards to", "{n} shards from", "of {n} chunks of {in}", "Merge {chunks}", "Merged {n}",
	"into the {chunks} chunks", "merges {chunks} chunks", "Split {chunks} hot chunks of {ns} by their writes, and",
	"into {parts} equal", "%d chunks were measured in the last", "of the %d chunks around",
	"the {n} projects with most", "the %d hottest", "%s shards, %s together", "hottest of {of} chunks",
	"%d of %d rules", "%d of %d steps", "%s (%s of %s chunks)", "{ns} has chunks", "of {rows} new rows",
	"newest of the {rows} rows", "All {chunks} ranges", "has {documents} documents", "about {documents} documents",
	"at {documents} documents", "from %s rows before", "{n} moves failed", "median duration of the %s moves",
	"about %s documents", "It has %s documents", "whole chunk: %s documents", "%s documents, %s copied",
	"%s documents copied, more", "Only the first", "Only {listed}", "would move {moves} ranges", "{rate} rows a second",
	"{rate} changed rows/s", "{n} changed rows/s", "{others} and moves", "{zone} and moves", "into {parts} parts",
	"chunks overlap each other", "the last of %d chunks", "documents of %s are not understood", "{n} × {times} cells",
	"All {n} collections on the map",
}

func TestACountOfOneHasItsNounInTheSingular(t *testing.T) {
	needed := map[string]bool{}
	for _, text := range shownTexts(t) {
		part := counted.FindString(text.words)
		if part == "" || text.plural || slices.Contains(pairedForms, text.words) {
			continue
		}
		many := false
		for _, known := range alwaysMany {
			if strings.Contains(text.words, known) {
				many, needed[known] = true, true
			}
		}
		if !many {
			t.Errorf("%s: %q in %q is wrong for a count of 1: use message.Plural, or say “rows: 1”", text.place, part, text.words)
		}
	}
	for _, known := range alwaysMany {
		if !needed[known] {
			t.Errorf("alwaysMany has %q, which no text needs", known)
		}
	}
}

func containsAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(strings.ToLower(text), strings.ToLower(p)) {
			return true
		}
	}
	return false
}

// shownText is a text for people in the source.
type shownText struct {
	place, words string
	plural       bool // one of the forms that message.Plural chooses from
}

// shownTexts are the strings with a space of the folders that speak to people. Generated pages have those of templates.
func shownTexts(t *testing.T) (out []shownText) {
	t.Helper()
	for _, file := range append(handWritten(t, ".go"), generatedPages(t)...) {
		if strings.HasSuffix(file, "_test.go") || !hasPrefix(file, shownTo) || hasPrefix(file, unseen) {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var open []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				open = open[:len(open)-1]
				return true
			}
			open = append(open, n)
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && !logged(open) {
				if words, _ := strconv.Unquote(s.Value); strings.Contains(strings.TrimSpace(words), " ") {
					out = append(out, shownText{fmt.Sprintf("%s:%d", file, files.Position(s.Pos()).Line), words, chosen(open)})
				}
			}
			return true
		})
	}
	return out
}

// generatedPages are the files made from templates, in which the texts of a page are strings.
func generatedPages(t *testing.T) (files []string) {
	t.Helper()
	for _, page := range handWritten(t, ".templ") {
		files = append(files, strings.TrimSuffix(page, ".templ")+"_templ.go")
	}
	return files
}

func hasPrefix(file string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(file, p) {
			return true
		}
	}
	return false
}

// chosen reports whether the innermost node is one of two forms that are chosen by a count.
func chosen(open []ast.Node) bool { return within(open, "Plural", "Held") }

// logged reports whether the innermost node is in a line of the log, or in an error that wraps another: those are for
// developers.
func logged(open []ast.Node) bool {
	return within(open, "Error", "Warn", "Info", "Debug", "Errorf", "MustCompile")
}

func within(open []ast.Node, names ...string) bool {
	for _, n := range open {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		called := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			called = f.Sel.Name
		case *ast.Ident:
			called = f.Name
		}
		if slices.Contains(names, called) {
			return true
		}
	}
	return false
}
