package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// startWithActions is startDemo with actions enabled.
func startWithActions(t testing.TB, o simcluster.Options) *demo {
	t.Helper()
	d := startDemo(t, o, topology.Options{Routing: 100 * time.Millisecond})
	d.stop(t)
	d.config.Actions = true
	d.serve(t)
	d.waitReady(t)
	return d
}

// startWithSignIn starts a second server with sign-in and returns its address and a
// token for each role.
func (d *demo) startWithSignIn(t *testing.T, roles ...string) (server string, tokens []string) {
	t.Helper()
	dir := t.TempDir()
	local, err := OpenAccounts(t.Context(), StorePlace{Dir: dir}, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		made, err := local.CreateToken(t.Context(), api.TokenCreate{Name: "script", Role: role, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, made.Secret)
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Actions: true, Auth: Auth{Mode: "local"}})
	if !eventually(20*time.Second, func() bool { return a.Watcher().Table().Loaded }) {
		t.Fatal("the server with sign-in has no table")
	}
	return strings.TrimRight(a.URL(), "/"), tokens
}

// eventually polls a condition and reports whether it became true in time.
func eventually(limit time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// exampleRunner runs the commands of the documentation in order and stores the values
// of the answers that later commands need.
type exampleRunner struct {
	t      *testing.T
	d      *demo
	dir    string
	vars   map[string]string
	signed string // address of the server with sign-in
	curl   func(r *exampleRunner, s shellStatement) (status string, body []byte)
}

func (r *exampleRunner) variable(name string) (string, bool) { v, ok := r.vars[name]; return v, ok }

// sendInGo sends the request that curl would send.
func sendInGo(r *exampleRunner, s shellStatement) (string, []byte) {
	r.t.Helper()
	method, address, body := "", "", ""
	head := http.Header{}
	for i := 1; i < len(s.words); i++ {
		switch w := s.words[i]; {
		case w == "-s":
		case w == "-X":
			i++
			method = s.words[i]
		case w == "-d":
			i++
			body = s.words[i]
		case w == "-H":
			i++
			line := s.words[i]
			if name, file := strings.CutPrefix(line, "@"); file {
				text, err := os.ReadFile(filepath.Join(r.dir, name))
				if err != nil {
					r.t.Fatal(err)
				}
				line = strings.TrimSpace(string(text))
			}
			name, value, _ := strings.Cut(line, ":")
			head.Set(name, strings.TrimSpace(value))
		case strings.HasPrefix(w, "-"):
			r.t.Fatalf("%s: this test does not support %s", s.raw, w)
		default:
			address = w
		}
	}
	if method == "" {
		if method = http.MethodGet; body != "" {
			method = http.MethodPost
		}
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = head
	if body != "" && head.Get("Content-Type") == "" {
		head.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode >= 400 && kind != api.ProblemType {
		r.t.Errorf("%s: the content type of an error is %s", s.raw, kind)
	}
	return fmt.Sprint(res.StatusCode), text
}

// sendByShell runs the command with a shell and curl.
func sendByShell(r *exampleRunner, s shellStatement) (string, []byte) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	answer := filepath.Join(r.dir, "answer")
	cmd := exec.CommandContext(
		ctx,
		"/bin/sh",
		"-eu",
		"-c",
		`curl() { command curl --max-time 20 -o "$ANSWER" -w '%{http_code}' "$@"; }`+"\n"+s.raw,
	)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "ANSWER="+answer, "no_proxy=*")
	for name, value := range r.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	status, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: unexpected error %v, status %s", s.raw, err, status)
	}
	body, err := os.ReadFile(answer)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(status), body
}

// runExample runs one command and checks the documented status.
func (r *exampleRunner) runExample(s shellStatement) {
	r.t.Helper()
	if name, value, ok := strings.Cut(s.words[0], "="); ok {
		if name != "SERVER" { // the test's server has another port
			r.vars[name] = value
		}
		return
	}
	if s.words[0] != "curl" || s.status == "" {
		r.t.Fatalf("%q is not a curl command with a documented status", s.raw)
	}
	status, body := r.curl(r, s)
	if status != s.status {
		r.t.Fatalf("%s\nreturns %s, the text says %s\n%s", s.raw, status, s.status, body)
	}
	r.storeVariables(s, status, body)
}

// storeVariables sets the variables as the text says.
func (r *exampleRunner) storeVariables(s shellStatement, status string, body []byte) {
	r.t.Helper()
	var got struct {
		ID, Hash, Kind string
		Blocked        bool
		Steps          []json.RawMessage
		Detail         string
		Open           bool
		Items          []struct {
			ID, Ref, State string
			Min, Max       json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		r.t.Fatalf("%s: %v\n%s", s.raw, err, body)
	}
	switch {
	case status[0] == '4':
		if got.Detail == "" {
			r.t.Errorf("%s: no explanation in %s", s.raw, body)
		}
	case strings.Contains(s.raw, "/projects"):
		r.vars["PROJECT"] = got.Items[0].ID
	case strings.Contains(s.raw, "/chunks"):
		r.vars["CHUNK"], r.vars["MIN"], r.vars["MAX"] = got.Items[0].Ref, string(got.Items[0].Min), string(got.Items[1].Max)
	case got.Hash != "":
		r.vars["PLAN"], r.vars["HASH"] = got.ID, got.Hash
		if got.Kind == "zone-add-shard" || got.Kind == "zone-set-range" { // later examples remove them
			_, run := sendInGo(
				r,
				shellStatement{
					words: []string{
						"curl",
						"-H",
						r.vars["JSON"],
						"-d",
						`{"hash":"` + got.Hash + `"}`,
						r.vars["SERVER"] + "/api/v1/plans/" + got.ID + "/run",
					},
				},
			)
			r.storeVariables(shellStatement{}, "202", run)
			r.waitForRun()
		}
	case got.Steps != nil:
		r.vars["RUN"] = got.ID
		if strings.HasSuffix(s.raw, "/runs/$RUN") {
			r.waitForRun()
		}
	}
}

// waitForRun waits until the run has succeeded and the table shows its effect.
func (r *exampleRunner) waitForRun() {
	r.t.Helper()
	run := r.d.waitForRun(r.t, r.vars["RUN"])
	if run.State != "succeeded" {
		r.t.Fatalf("unexpected run: %+v", run)
	}
	if err := r.d.app.Watcher().Refresh(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// waitForRun waits until a run has ended.
func (d *demo) waitForRun(t *testing.T, id string) (run api.Run) {
	t.Helper()
	if !eventually(30*time.Second, func() bool { d.getJSON(t, "api/v1/runs/"+id, &run); return !run.Open }) {
		t.Fatalf("the run does not end: %+v", run)
	}
	return run
}

// actionsDocs returns the pages about changes in the order in which their examples
// depend on each other.
func actionsDocs(t *testing.T) string {
	t.Helper()
	var all []byte
	for _, page := range []string{"actions.md", "change-kinds.md", "runs.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

func TestExamplesOfTheActionsDocumentReturnTheDocumentedStatus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	text := actionsDocs(t)
	for name, curl := range map[string]func(*exampleRunner, shellStatement) (string, []byte){"by hand": sendInGo, "by curl": sendByShell} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("curl"); err != nil && name == "by curl" {
				t.Fatal("the examples need curl; make setup installs it:", err)
			}
			d := startWithActions(t, quietCluster())
			signed, tokens := d.startWithSignIn(t, "operator")
			r := &exampleRunner{
				t:      t,
				d:      d,
				dir:    t.TempDir(),
				signed: signed,
				curl:   curl,
				vars:   map[string]string{"SERVER": strings.TrimRight(d.app.URL(), "/")},
			}
			if err := os.WriteFile(filepath.Join(r.dir, "auth"), []byte("Authorization: Bearer "+tokens[0]+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			done := r.runAll(text)
			if done < 35 {
				t.Errorf("only %d examples were found", done)
			}
		})
	}
}

// runAll runs every example from the first to the last.
func (r *exampleRunner) runAll(text string) (done int) {
	r.t.Helper()
	near := r.vars["SERVER"]
	for _, m := range shellBlock.FindAllStringSubmatch(text, -1) {
		raws, err := parseShell(m[1], func(string) (string, bool) { return "", true })
		if err != nil {
			r.t.Fatalf("%v in\n%s", err, m[1])
		}
		for _, s := range raws {
			r.vars["SERVER"] = near
			if strings.Contains(s.raw, "@auth") {
				r.vars["SERVER"] = r.signed
			}
			// Parse again, because the variables from earlier answers are now set.
			known, err := parseShell(s.raw, r.variable)
			if err != nil {
				r.t.Fatalf("%v in\n%s", err, s.raw)
			}
			known[0].raw, known[0].status = s.raw, s.status
			r.runExample(known[0])
			done++
		}
	}
	r.vars["SERVER"] = near
	return done
}

func TestTheActionsDocumentNamesEveryKindAndState(t *testing.T) {
	text := actionsDocs(t)
	for _, k := range actions.Kinds() {
		if !strings.Contains(text, `{"kind": "`+string(k)+`"`) {
			t.Errorf("%s has no example", k)
		}
	}
	states := map[string]bool{}
	_, runs, _ := strings.Cut(text, "## States")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(runs, -1) {
		states[m[1]] = true
	}
	want := []string{
		"deferred", "failed", "planned", "refused", "replaced", "running", "skipped", "stopped", "succeeded", "undone", "unknown",
		"waiting",
	}
	if got := slices.Sorted(maps.Keys(states)); !slices.Equal(got, want) {
		t.Errorf("the document explains the states %v", got)
	}
}
