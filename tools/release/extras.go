package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// documents are the files of the repository that every archive has, and their names there.
var documents = []struct{ from, to string }{
	{"LICENSE", "LICENSE"},
	{"README.md", "README.md"},
	{"CHANGELOG.md", "CHANGELOG.md"},
	{"docs/change-examples.sh", "docs/change-examples.sh"},
	{"docs/profiles/shop.yaml", "docs/profiles/shop.yaml"},
	{"SECURITY.md", "SECURITY.md"},
	{"deploy/systemd/shardboard.service", "systemd/shardboard.service"},
	{"deploy/systemd/shardboard.env", "systemd/shardboard.env"},
	{"deploy/systemd/shardboard.sysusers", "systemd/shardboard.sysusers"},
}

// generated are the files that the program itself prints, so that they match it: its manual page and the
// completions of shells.
var generated = []struct {
	args []string
	to   string
}{
	{[]string{"man"}, "man/shardboard.1"},
	{[]string{"completion", "bash"}, "completions/shardboard.bash"},
	{[]string{"completion", "zsh"}, "completions/_shardboard"},
	{[]string{"completion", "fish"}, "completions/shardboard.fish"},
}

// extras are what an archive has besides the program. The program's messages name pages of the documentation, and
// whoever reads them may have no other network than that of the cluster.
func (r release) extras(ctx context.Context) (out []entry, err error) {
	if out, err = r.tree("docs", "docs/", ".md"); err != nil {
		return nil, err
	}
	for _, d := range documents {
		text, err := os.ReadFile(filepath.Join(r.source, d.from))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: d.to, mode: 0o644, data: text})
	}
	here, err := r.build(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	for _, g := range generated {
		text, err := exec.CommandContext(ctx, here.path, g.args...).Output()
		if err != nil {
			return nil, fmt.Errorf("shardboard %s: %w", strings.Join(g.args, " "), err)
		}
		if len(text) == 0 {
			return nil, errors.New("shardboard " + strings.Join(g.args, " ") + " prints nothing")
		}
		out = append(out, entry{name: g.to, mode: 0o644, data: text})
	}
	return out, nil
}
