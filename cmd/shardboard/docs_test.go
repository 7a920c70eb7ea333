package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

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
		if found == nil {
			t.Fatalf("no list of %s", name)
		}
		if page[found[2]:found[3]] != want && !*update {
			t.Errorf("the list of %s is not up to date: run this test with -update", name)
		}
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
	if len(out) < 20 {
		t.Fatalf("%d examples", len(out))
	}
	return out
}

// TestExamplesOfThePageWork runs each as a shell would, against a server over a simulated cluster.
func TestExamplesOfThePageWork(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
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
		if words[0] != "shardboard" || code != 0 || out == "" && args[0] != "healthcheck" {
			t.Errorf("%s: exit %d, %q\n%s", example, code, errs, out)
		}
	}
	if _, err := os.Stat("cluster.zip"); err != nil {
		t.Error(err)
	}
}

// wordsOf are the words of a command line as a shell reads them.
func wordsOf(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\n' `+text).Output()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
