package shardboard_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestScriptsAreShell(t *testing.T) {
	scripts := must.Get(filepath.Glob("scripts/*"))
	for _, script := range append(scripts, "deploy/compose/init/secrets.sh") {
		shell := "sh"
		if text, err := os.ReadFile(script); err != nil || strings.HasPrefix(string(text), "#!/bin/bash") {
			shell = "bash"
		}
		if out, err := exec.CommandContext(t.Context(), shell, "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
	}
}

var (
	setting  = regexp.MustCompile(`SHARDBOARD_[A-Z_]+[A-Z]`)
	declares = regexp.MustCompile(`env:"(SHARDBOARD_[A-Z_]+)"`)
)

// What a chart, a unit or a reader of the documentation sets and no command reads would silently have no effect.
func TestSettingsOfDeployAndDocumentationAreSettingsOfTheProgram(t *testing.T) {
	known := map[string]bool{}
	sources := must.Get(filepath.Glob("cmd/shardboard/*.go"))
	for _, path := range sources {
		text := must.Get(os.ReadFile(path))
		for _, m := range declares.FindAllSubmatch(text, -1) {
			known[string(m[1])] = true
		}
	}
	files := []string{"Dockerfile", "README.md", "CONTRIBUTING.md"}
	for _, folder := range []string{"deploy", "docs"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) != ".png" {
				files = append(files, path)
			}
			return err
		})
		must.Do(t, err)
	}
	for _, path := range files {
		text := must.Get(os.ReadFile(path))
		for _, name := range setting.FindAllString(string(text), -1) {
			if known[name] || own[name] {
				continue
			}
			t.Errorf("%s sets %s, which no command reads", path, name)
		}
	}
	for name := range own {
		expect.That(t, !known[name], "%s is a setting of the program now: it needs no exception", name)
	}
}

// own are names that look like settings of the program and are not.
var own = map[string]bool{
	"SHARDBOARD_IMAGE": true, // of the Compose file
	// Of commands that ask a server, which read them without a flag. The chart's schema refuses the former.
	"SHARDBOARD_TOKEN": true, "SHARDBOARD_TOKEN_FILE": true,
	// Of people who change shardboard.
	"SHARDBOARD_ASSETS": true, "SHARDBOARD_BIN": true, "SHARDBOARD_BROWSER": true, "SHARDBOARD_LONG": true,
	"SHARDBOARD_REQUIRE_ALL": true, "SHARDBOARD_TEST_MONGODB_URI": true, "SHARDBOARD_TEST_STORE_URI": true,
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksOfTheInstallationPagesLeadSomewhere(t *testing.T) {
	for _, page := range []string{"docs/install.md", "docs/upgrade.md", "deploy/compose/README.md", "deploy/helm/README.md"} {
		text := must.Get(os.ReadFile(page))
		for _, m := range link.FindAllSubmatch(text, -1) {
			expect.NoError(t, must.Err(os.Stat(filepath.Join(filepath.Dir(page), string(m[1])))), "%s", page)
		}
	}
}
