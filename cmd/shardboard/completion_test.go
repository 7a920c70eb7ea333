package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// completed are the words that completion offers for a command line whose last word is at the cursor.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	_, out, _ := shardboard(t, append([]string{"complete"}, words...)...)
	var list []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if value, _, _ := strings.Cut(line, "\t"); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// namesServer answers the lists that completion asks for.
func namesServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := map[string]string{
			"/api/v1/shards":        `{"items":[{"name":"shard-1"},{"name":"$(touch x)"},{"name":"a\u001bb"}]}`,
			"/api/v1/collections":   `{"items":[{"ns":"app.docs"}]}`,
			"/api/v1/projects":      `{"items":[{"id":"6879a657e28a74c611ffd680","name":"atlas board"}]}`,
			"/api/v1/zones":         `{"items":[{"zone":"eu"}]}`,
			"/api/v1/clusters":      `{"items":[{"name":"prod","title":"Production"}]}`,
			"/c/prod/api/v1/shards": `{"items":[{"name":"of-prod"}]}`,
		}[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	t.Setenv("SHARDBOARD_SERVER", s.URL)
}

func TestCompletionKnowsCommandsFlagsValuesAndNames(t *testing.T) {
	namesServer(t)
	var kinds []string
	for _, k := range actions.Kinds() {
		kinds = append(kinds, string(k))
	}
	for _, tc := range []struct {
		words, want string
	}{
		{"get sh", "shards shard-why"},
		{"get shards --ou", "--output"},
		{"get shards --output ", "table wide json csv"},
		{"get shards -o j", "json"},
		{"get shards --output=c", "--output=csv"},
		{"get shards --output = c", "csv"}, // as bash splits it
		{"get shards --output =", "table wide json csv"},
		{"get heat ", "projects project-shards documents chunks shards"},
		{"get shard sh", "shard-1"},
		{"get --log-level de", "debug"},
		{"get chunks ", "app.docs"},
		{"get chunks app.docs --shard s", "shard-1"},
		{"get chunks app.docs --zone ", "eu"},
		{"get project a", "atlas board"},
		{"plan ", strings.Join(kinds, " ")},
		{"plan pin --project at", "atlas board"},
		{"plan pin --mode ", "moves balancer"},
		{"plan move --to s", "shard-1"},
		{"completion ", "bash zsh fish"},
		{"get chunks --project at", "atlas board"},
		{"get shards --cluster ", "prod"},
		{"get shard --cluster prod ", "of-prod"},
		{"nonsense ", ""},
		{"serve --uri-file ", ""},
	} {
		expect.Equal(t, strings.Join(completed(t, strings.Split(tc.words, " ")...), " "), tc.want, "%q", tc.words)
	}
	got := completed(t, "get", "shard", "")
	expect.That(t, !slices.Contains(got, "a\x1bb") && slices.Contains(got, "$(touch x)"), "names are %q", got)
}

func TestCompletionAsksTheClusterThatIsNamed(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		_, _ = io.WriteString(w, `{"items": [{"name": "rs1"}]}`)
	}))
	defer s.Close()
	t.Setenv("SHARDBOARD_SERVER", s.URL)
	t.Setenv("SHARDBOARD_CLUSTER", "eu")
	for _, given := range []map[string]string{{}, {"cluster": "us"}} {
		got := serverNames(t.Context(), cursor{given: given}, "shards")
		expect.That(t, len(got) == 1 && got[0].value == "rs1", "%v", got)
	}
	expect.EqualSlices(t, asked, []string{"/c/eu/api/v1/shards", "/c/us/api/v1/shards"}, "asked")
	gone, cancel := context.WithCancel(t.Context())
	if cancel(); serverNames(gone, cursor{}, "shards") != nil || completionTime > time.Second {
		t.Errorf("a shell waits %s for names", completionTime)
	}
}

// programNamed puts a program that prints some text into PATH as shardboard.
func programNamed(t *testing.T, prints string) (env []string) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(dir, "asked") + "\ncat <<'END'\n" + prints + "END\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "shardboard"), []byte(script), 0o700))
	return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
}

// The scripts run in their shells and offer what the program prints; a name cannot run anything.
func TestCompletionScriptsRunInTheirShells(t *testing.T) {
	for _, tc := range []struct{ shell, script, want string }{
		{"bash", `eval "$COMPLETION"; COMP_WORDS=(shardboard get sh); COMP_CWORD=2; _shardboard; printf '[%s]' "${COMPREPLY[@]}"; complete -p shardboard`,
			`[shards][\$\(touch\ x\)]complete -o default -F _shardboard shardboard`},
		{"zsh", `autoload -Uz compinit; compinit -D -u; eval "$COMPLETION"; words=(shardboard get sh); CURRENT=3; _describe() { print -r -- $found }; _shardboard`,
			`shards:Shards. $(touch x):b`},
		{"fish", `eval (printf '%s\n' $COMPLETION | string collect); complete -C 'shardboard get sh'`, "shards\tShards."},
	} {
		t.Run(tc.shell, func(t *testing.T) {
			if testing.Short() && tc.shell == "zsh" {
				t.Skip("its completion takes a second to start")
			}
			path, err := exec.LookPath(tc.shell)
			if err != nil {
				t.Skip("no " + tc.shell + " here")
			}
			var script bytes.Buffer
			must.That(t, run(t.Context(), []string{"completion", tc.shell}, &script, &script) == 0, "%v", script.String())
			c := exec.CommandContext(t.Context(), path, "-c", tc.script)
			c.Env = append(programNamed(t, "shards\tShards.\n$(touch x)\tb\n"), "COMPLETION="+script.String())
			c.Dir = t.TempDir()
			out, err := c.CombinedOutput()
			expect.That(t, err == nil && strings.HasPrefix(string(out), tc.want), "%v: %s", err, out)
			expect.That(t, must.Err(os.Stat(filepath.Join(c.Dir, "x"))) != nil, "a name was run")
		})
	}
}
