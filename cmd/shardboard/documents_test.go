package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"
	"go.yaml.in/yaml/v3"

	"shardboard/internal/alert"
	"shardboard/internal/configfile"
	"shardboard/internal/fixture/must"
)

// snippet is a fenced block of a page of the documentation.
type snippet struct {
	page, language, text string
}

// fence also finds blocks inside lists, which are indented.
var fence = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```$")

// documentation is the text of every page, by path.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/playbooks/*.md",
		"docs/runbooks/*.md", "deploy/*/README.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		if err != nil || len(pages) == 0 {
			t.Fatal(pattern, err)
		}
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			out[strings.TrimPrefix(page, "../../")] = string(text)
		}
	}
	return out
}

func snippets(t *testing.T, languages ...string) (out []snippet) {
	t.Helper()
	for page, text := range documentation(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			for _, l := range languages {
				if l == m[1] {
					out = append(out, snippet{page, m[1], m[2]})
				}
			}
		}
	}
	return out
}

func TestShellSnippetsOfTheDocumentationAreShell(t *testing.T) {
	all := snippets(t, "sh")
	var script strings.Builder
	for _, s := range all { // a function each, so that one shell reads them all; its message has the line with the page
		script.WriteString("f() { : " + s.page + "\n" + s.text + "\n:\n}\n")
	}
	check := exec.CommandContext(t.Context(), "sh", "-n")
	check.Stdin = strings.NewReader(script.String())
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if len(all) < 60 {
		t.Errorf("only %d snippets", len(all))
	}
}

// mongoshLine is the beginning of a block without a language that is for mongosh all the same: what cannot be tried
// against the simulated cluster, as adding a shard.
var mongoshLine = regexp.MustCompile(`^\s*(?:db|sh|rs)\.`)

func TestMongoshSnippetsOfTheDocumentationAreJavaScript(t *testing.T) {
	n := 0
	for _, s := range snippets(t, "js", "") {
		if s.language == "" && !mongoshLine.MatchString(s.text) {
			continue
		}
		n++
		if err := js.Minify(minify.New(), io.Discard, strings.NewReader(s.text), nil); err != nil {
			t.Errorf("%s: %v in\n%s", s.page, err, s.text)
		}
	}
	if n < 15 {
		t.Errorf("only %d snippets", n)
	}
	if js.Minify(minify.New(), io.Discard, strings.NewReader("db.find({a: 1)"), nil) == nil {
		t.Error("a bracket that is missing is not found")
	}
}

func TestJSONAndYAMLSnippetsOfTheDocumentationAreRead(t *testing.T) {
	for _, s := range snippets(t, "json") {
		if !json.Valid([]byte(s.text)) {
			t.Errorf("%s: not JSON:\n%s", s.page, s.text)
		}
	}
	read := map[string]int{}
	for _, s := range snippets(t, "yaml", "yml") {
		read[s.page]++
		switch s.page {
		case "docs/alerts.md":
			secrets := t.TempDir()
			for name, text := range map[string]string{"slack": "https://hooks.example/x", "pagerduty": strings.Repeat("a1", 16)} {
				must.Do(t, os.WriteFile(filepath.Join(secrets, name), []byte(text), 0o600))
			}
			text := strings.ReplaceAll(s.text, "/run/secrets", secrets)
			if _, err := alert.Parse("alerts.yaml", []byte(text)); err != nil {
				t.Errorf("%s: %v", s.page, err)
			}
		case "docs/config.md":
			file := filepath.Join(t.TempDir(), "shardboard.yaml")
			must.Do(t, os.WriteFile(file, []byte(s.text), 0o600))
			if f, err := configfile.Read(file, settingsOfServe()); err != nil || f.Err() != nil {
				t.Errorf("%s: %v, %v", s.page, err, f.Err())
			}
		default:
			var v any
			if err := yaml.Unmarshal([]byte(s.text), &v); err != nil {
				t.Errorf("%s: %v in\n%s", s.page, err, s.text)
			}
		}
	}
	if read["docs/alerts.md"] == 0 || read["docs/config.md"] == 0 {
		t.Errorf("read %v", read)
	}
}

var (
	ourCommand = regexp.MustCompile(`^\s*(?:\$ )?(?:sudo )?(?:\S*/)?shardboard (.*)`)
	codeSpan   = regexp.MustCompile("`shardboard ([^`\n]+)`")
	wholeFence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// TestCommandLinesOfTheDocumentationAreUnderstood has each command line parsed as when somebody types it. "…" stands
// for what a page leaves out, so that what is missing then is no mistake.
func TestCommandLinesOfTheDocumentationAreUnderstood(t *testing.T) {
	c, exit, n := newCLI(), -1, 0
	parser, err := newParser(&c, io.Discard, io.Discard, &exit)
	must.Do(t, err)
	check := func(page, line string, part bool) {
		n++
		words, leftOut := documentedWords(line)
		if exit = -1; len(words) == 0 || words[0] == "COMMAND" {
			return
		}
		_, err := parser.Parse(withNames(words))
		if err != nil && exit < 0 && !((part || leftOut) && incomplete.MatchString(err.Error())) {
			t.Errorf("%s: shardboard %s: %v", page, line, err)
		}
	}
	for _, s := range snippets(t, "sh", "") {
		for _, line := range strings.Split(strings.ReplaceAll(s.text, "\\\n", " "), "\n") {
			if m := ourCommand.FindStringSubmatch(line); m != nil {
				check(s.page, m[1], false)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d command lines in blocks", n)
	}
	for page, text := range documentation(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(wholeFence.ReplaceAllString(text, ""), -1) {
			if !strings.ContainsAny(m[1], "|[{") { // a form of several commands
				check(page, m[1], true)
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d command lines", n)
	}
}

// incomplete are errors of the parser about what is not there.
var incomplete = regexp.MustCompile(`^missing |^expected |, expected `)

// documentedWords are the words of a command line. A value that is left out is some text; other words that are left
// out are not there.
func documentedWords(line string) (out []string, leftOut bool) {
	for _, w := range commandWords(line) {
		if w == "…" {
			leftOut = true
			if len(out) == 0 || !strings.HasPrefix(out[len(out)-1], "--") {
				continue
			}
		}
		out = append(out, strings.ReplaceAll(w, "…", "x"))
	}
	return out, leftOut
}

// commandWord is a word of a command line with its quotes, or what ends a command: a redirection, a pipe, a comment.
var commandWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s|><;&)'"])+|[|><;&)]`)

// commandWords are the words of a command up to its end. Variables stay as they are.
func commandWords(line string) (out []string) {
	for _, word := range commandWord.FindAllString(line, -1) {
		if strings.ContainsAny(word[:1], "|><;&)#") {
			break
		}
		out = append(out, strings.NewReplacer("'", "", `"`, "").Replace(word))
	}
	return out
}
