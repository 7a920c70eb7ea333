package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"
	"go.yaml.in/yaml/v3"

	"shardboard/internal/alert"
	"shardboard/internal/configfile"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
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
		must.That(t, err == nil && len(pages) != 0, "%v %v", pattern, err)
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
	out, err := check.CombinedOutput()
	expect.That(t, err == nil, "%v: %s", err, out)
	expect.That(t, len(all) >= 60, "only %d snippets", len(all))
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
		err := js.Minify(minify.New(), io.Discard, strings.NewReader(s.text), nil)
		expect.That(t, err == nil, "%s: %v in\n%s", s.page, err, s.text)
	}
	expect.That(t, n >= 15, "only %d snippets", n)
	expect.That(t, js.Minify(minify.New(), io.Discard, strings.NewReader("db.find({a: 1)"), nil) != nil,
		"a bracket that is missing is not found")
}

func TestJSONAndYAMLSnippetsOfTheDocumentationAreRead(t *testing.T) {
	for _, s := range snippets(t, "json") {
		expect.That(t, json.Valid([]byte(s.text)), "%s: not JSON:\n%s", s.page, s.text)
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
			expect.NoError(t, must.Err(alert.Parse("alerts.yaml", []byte(text))), "%s", s.page)
		case "docs/config.md":
			file := filepath.Join(t.TempDir(), "shardboard.yaml")
			must.Do(t, os.WriteFile(file, []byte(s.text), 0o600))
			f, err := configfile.Read(file, settingsOfServe(parserOf(t)))
			expect.That(t, err == nil && f.Err() == nil, "%s: %v, %v", s.page, err, f.Err())
		default:
			var v any
			err := yaml.Unmarshal([]byte(s.text), &v)
			expect.That(t, err == nil, "%s: %v in\n%s", s.page, err, s.text)
		}
	}
	expect.That(t, read["docs/alerts.md"] != 0 && read["docs/config.md"] != 0, "read %v", read)
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
		expect.That(t, err == nil || exit >= 0 || (part || leftOut) && incomplete.MatchString(err.Error()),
			"%s: shardboard %s: %v", page, line, err)
	}
	for _, s := range snippets(t, "sh", "") {
		for _, line := range strings.Split(strings.ReplaceAll(s.text, "\\\n", " "), "\n") {
			if m := ourCommand.FindStringSubmatch(line); m != nil {
				check(s.page, m[1], false)
			}
		}
	}
	expect.That(t, n >= 100, "only %d command lines in blocks", n)
	for page, text := range documentation(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(wholeFence.ReplaceAllString(text, ""), -1) {
			if !strings.ContainsAny(m[1], "|[{") { // a form of several commands
				check(page, m[1], true)
			}
		}
	}
	expect.That(t, n >= 150, "only %d command lines", n)
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

const cliPage = "../../docs/cli.md"

var update = flag.Bool("update", false, "write the lists of docs/cli.md and docs/config.md")

// listsOfPage are the parts of the page that follow from the program.
func listsOfPage(t *testing.T) map[string]string {
	rows := "| command | what it does |\n|---|---|\n"
	for _, c := range commands(t) {
		words := path(c)
		if words[0] == "get" {
			if strings.Contains(rows, "| `get") {
				continue
			}
			words, c = words[:1], c.Parent
		}
		rows += fmt.Sprintf("| `%s` | %s |\n", strings.Join(words, " "), strings.ReplaceAll(c.Help, "|", "\\|"))
	}
	codes := "| code | means |\n|---|---|\n"
	for _, c := range exitCodes() {
		codes += fmt.Sprintf("| %d | %s |\n", c.code, c.text)
	}
	return map[string]string{"commands": rows, "exit codes": codes}
}

func TestThePageOfTheCommandLineHasEveryCommandAndExitCode(t *testing.T) {
	text := must.Get(os.ReadFile(cliPage))
	page := string(text)
	for name, want := range listsOfPage(t) {
		between := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n(.*?)<!-- end -->`)
		found := between.FindStringSubmatchIndex(page)
		must.That(t, found != nil, "no list of %s", name)
		expect.That(t, page[found[2]:found[3]] == want || *update, "the list of %s is not up to date: run this test with -update", name)
		page = page[:found[2]] + want + page[found[3]:]
	}
	for _, r := range resources() {
		expect.Contains(t, page, "`"+r.name+"`", "get %s is not on the page", r.name)
	}
	if *update {
		must.Do(t, os.WriteFile(cliPage, []byte(page), 0o644))
	}
}

// examples are the command lines of the page.
func examples(t *testing.T) []string {
	text := must.Get(os.ReadFile(cliPage))
	var out []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	must.That(t, len(out) >= 20, "%d examples", len(out))
	return out
}

// TestExamplesOfThePageWork runs each as a shell would, against a server over a simulated cluster.
func TestExamplesOfThePageWork(t *testing.T) {
	only.Long(t, "starts a server")
	uri := startCluster(t)
	t.Setenv("SHARDBOARD_SERVER", startServerOver(t, uri))
	lines := examples(t)
	t.Chdir(t.TempDir())
	for _, example := range lines {
		words := wordsOf(t, example)
		args := words[1:]
		if args[0] == "locate" || args[0] == "doctor" {
			args = append(args, "--uri", uri)
		}
		code, out, errs := shardboard(t, args...)
		expect.That(t, words[0] == "shardboard" && code == 0 && (out != "" || args[0] == "healthcheck"),
			"%s: exit %d, %q\n%s", example, code, errs, out)
	}
	expect.NoError(t, must.Err(os.Stat("cluster.zip")), "Stat")
}

// wordsOf are the words of a command line as a shell reads them.
func wordsOf(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\n' `+text).Output()
	must.That(t, err == nil, "%s: %v", text, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// commands are all commands that can be run, such as "get shards".
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	return parserOf(t).Model.Leaves(true)
}

// parserOf is the program's parser, for what it knows of the commands.
func parserOf(t *testing.T) *kong.Kong {
	t.Helper()
	c, exit := newCLI(), 0
	parser, err := newParser(&c, t.Output(), t.Output(), &exit)
	must.Do(t, err)
	return parser
}

// path is how a command is typed: kong writes "get shards (shard)".
func path(c *kong.Node) []string {
	return slices.DeleteFunc(strings.Fields(c.Path()), func(word string) bool { return strings.HasPrefix(word, "(") })
}

func TestTheManualHasEveryCommandAndExitCode(t *testing.T) {
	code, page, errs := shardboard(t, "man")
	must.That(t, code == 0 && errs == "", "exit %d: %s", code, errs)
	for _, c := range commands(t) {
		expect.Contains(t, page, "\n.SS "+roff("shardboard "+c.Path()), "no section of %s", c.Path())
	}
	expect.ContainsAll(t, page, []string{".TH SHARDBOARD 1 ", "\n.SH NAME\n", "\n.SH EXIT STATUS\n", "\n.B 7\n",
		"\n.B SHARDBOARD_URI\n"}, "the page")
	for i, line := range strings.Split(page, "\n") {
		expect.That(t, !strings.HasPrefix(line, "'") && !strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' }),
			"line %d is %q", i+1, line)
	}
}

func TestTheManualIsCorrectRoff(t *testing.T) {
	_, page, _ := shardboard(t, "man")
	for program, args := range map[string][]string{"groff": {"-man", "-ww", "-Tutf8", "-z"}, "mandoc": {"-T", "lint", "-W", "error"}} {
		t.Run(program, func(t *testing.T) {
			path, err := exec.LookPath(program)
			if err != nil {
				t.Skip("no " + program + " here")
			}
			c := exec.CommandContext(t.Context(), path, args...)
			c.Stdin = strings.NewReader(page)
			out, err := c.CombinedOutput()
			expect.That(t, err == nil && len(out) == 0, "%v: %s", err, out)
		})
	}
}

func TestHelpOfEveryCommandHasTheExitCodes(t *testing.T) {
	seen := map[*kong.Node]int{}
	for _, c := range commands(t) {
		if seen[c.Parent]++; testing.Short() && c.Parent.Parent != nil && seen[c.Parent] > 1 {
			continue // the others of this kind are the same type
		}
		saysAll(t, 0, []string{"Exit codes:\n  0  done\n", "\n  7  "}, append(path(c), "--help")...)
	}
}

func TestHelpIsACommandAndWhatIsShownWithoutOne(t *testing.T) {
	_, help, _ := shardboard(t, "--help")
	saysAll(t, 0, []string{help})
	saysAll(t, 0, []string{help}, "help")
	saysAll(t, 0, []string{"Usage: shardboard get shards "}, "help", "get", "shards")
	expect.That(t, !strings.Contains(help, "?."), "a question ends with a full stop: %s", help)
}
