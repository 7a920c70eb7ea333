package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"

	"github.com/alecthomas/kong"
)

// commands are all commands that can be run, such as "get shards".
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	c, exit := newCLI(), 0
	k, err := newParser(&c, t.Output(), t.Output(), &exit)
	must.Do(t, err)
	return k.Model.Leaves(true)
}

// path is how a command is typed: kong writes "get shards (shard)".
func path(c *kong.Node) []string {
	return slices.DeleteFunc(strings.Fields(c.Path()), func(word string) bool { return strings.HasPrefix(word, "(") })
}

func TestTheManualHasEveryCommandAndExitCode(t *testing.T) {
	code, page, errs := shardboard(t, "man")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, c := range commands(t) {
		if !strings.Contains(page, "\n.SS "+roff("shardboard "+c.Path())) {
			t.Errorf("no section of %s", c.Path())
		}
	}
	for _, text := range []string{".TH SHARDBOARD 1 ", "\n.SH NAME\n", "\n.SH EXIT STATUS\n", "\n.B 7\n", "\n.B SHARDBOARD_URI\n"} {
		expect.Contains(t, page, text, "the page")
	}
	for i, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "'") || strings.ContainsFunc(line, func(r rune) bool { return r > '~' || r < ' ' }) {
			t.Errorf("line %d is %q", i+1, line)
		}
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
			if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func TestHelpOfEveryCommandHasTheExitCodes(t *testing.T) {
	seen := map[*kong.Node]int{}
	for _, c := range commands(t) {
		if seen[c.Parent]++; testing.Short() && c.Parent.Parent != nil && seen[c.Parent] > 1 {
			continue // the others of this kind are the same type
		}
		code, out, _ := shardboard(t, append(path(c), "--help")...)
		if code != 0 || !strings.Contains(out, "Exit codes:\n  0  done\n") || !strings.Contains(out, "\n  7  ") {
			t.Errorf("%s: exit %d, %s", c.Path(), code, out)
		}
	}
}
