package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
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
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
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
	must.Do(t, err)
	for _, role := range roles {
		made, err := local.CreateToken(t.Context(), api.TokenCreate{Name: "script", Role: role, Expires: time.Now().Add(time.Hour)})
		must.Do(t, err)
		tokens = append(tokens, made.Secret)
	}
	must.Do(t, local.Close())
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Actions: true, Auth: Auth{Mode: "local"}})
	must.That(t, eventually(settledWithin, func() bool { return a.Watcher().Table().Loaded }), "the server with sign-in has no table")
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

// exampleRunner runs the examples of the documentation in order, with a shell and curl, and stores the values of the
// answers that later examples need.
type exampleRunner struct {
	t      *testing.T
	d      *demo
	dir    string
	vars   map[string]string
	signed string // address of the server with sign-in
}

var (
	exampleCommand  = regexp.MustCompile("(?s)(.+?)\n# → ([0-9]+)\n") // with the documented status
	exampleVariable = regexp.MustCompile("(?m)^([A-Z]+)=(.*)\n")
)

// runBlock runs the commands of one block and returns their number.
func (r *exampleRunner) runBlock(block string) (done int) {
	r.t.Helper()
	for _, m := range exampleVariable.FindAllStringSubmatch(block, -1) {
		if m[1] != "SERVER" { // the test's server has another port
			r.vars[m[1]] = strings.Trim(m[2], "'")
		}
	}
	block = exampleVariable.ReplaceAllString(block, "")
	if rest := exampleCommand.ReplaceAllString(block, ""); strings.TrimSpace(rest) != "" {
		r.t.Fatalf("%q has no documented status", rest)
	}
	for _, m := range exampleCommand.FindAllStringSubmatch(block, -1) {
		status, body := r.send(m[1])
		must.That(r.t, status == m[2], "%s\nreturns %s, the text says %s\n%s", m[1], status, m[2], body)
		r.storeVariables(m[1], status, body)
		done++
	}
	return done
}

// send runs a command and returns the status and the body of the answer.
func (r *exampleRunner) send(command string) (string, []byte) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	answer := filepath.Join(r.dir, "answer")
	cmd := exec.CommandContext(ctx, "/bin/sh", "-eu", "-c",
		`curl() { command curl --max-time 60 -o "$ANSWER" -w '%{http_code}' "$@"; }`+"\n"+command)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "ANSWER="+answer, "no_proxy=*")
	for name, value := range r.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if strings.Contains(command, "@auth") {
		cmd.Env = append(cmd.Env, "SERVER="+r.signed)
	}
	status, err := cmd.CombinedOutput()
	must.That(r.t, err == nil, "%s: unexpected error %v, status %s", command, err, status)
	body, err := os.ReadFile(answer)
	must.Do(r.t, err)
	return string(status), body
}

// storeVariables sets the variables as the text says.
func (r *exampleRunner) storeVariables(command, status string, body []byte) {
	r.t.Helper()
	var got struct {
		ID, Hash, Kind string
		Steps          []json.RawMessage
		Detail         string
		Items          []struct {
			ID, Ref  string
			Min, Max json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		r.t.Fatalf("%s: %v\n%s", command, err, body)
	}
	switch {
	case status[0] == '4':
		expect.That(r.t, got.Detail != "", "%s: no explanation in %s", command, body)
	case strings.Contains(command, "/projects"):
		r.vars["PROJECT"] = got.Items[0].ID
	case strings.Contains(command, "/chunks"):
		r.vars["CHUNK"], r.vars["MIN"], r.vars["MAX"] = got.Items[0].Ref, string(got.Items[0].Min), string(got.Items[1].Max)
	case got.Hash != "":
		r.vars["PLAN"], r.vars["HASH"] = got.ID, got.Hash
		if got.Kind == "zone-add-shard" || got.Kind == "zone-set-range" { // later examples remove them
			s := apiClient{T: r.t, at: r.vars["SERVER"] + api.Prefix}
			r.waitForRun(s.run(202, answer{"id": got.ID, "hash": got.Hash}, "")["id"].(string))
		}
	case got.Steps != nil:
		r.vars["RUN"] = got.ID
		if strings.HasSuffix(command, "/runs/$RUN") {
			r.waitForRun(got.ID)
		}
	}
}

// waitForRun waits until the run has succeeded and the table shows its effect.
func (r *exampleRunner) waitForRun(id string) {
	r.t.Helper()
	run := r.d.waitForRun(r.t, id)
	must.That(r.t, run.State == "succeeded", "unexpected run: %+v", run)
	must.Do(r.t, r.d.app.Watcher().Refresh(r.t.Context()))
}

// waitForRun waits until a run has ended.
func (d *demo) waitForRun(t *testing.T, id string) (run api.Run) {
	t.Helper()
	must.That(t, eventually(settledWithin, func() bool { d.getJSON(t, "api/v1/runs/"+id, &run); return !run.Open }),
		"the run does not end: %+v", run)
	return run
}

// actionsDocs returns the pages about changes in the order in which their examples
// depend on each other.
func actionsDocs(t *testing.T) string {
	t.Helper()
	var all []byte
	for _, page := range []string{"actions.md", "runs.md", "change-examples.sh"} {
		text := must.Get(os.ReadFile("../../docs/" + page))
		if strings.HasSuffix(page, ".sh") {
			_, examples, _ := bytes.Cut(text, []byte("\n\n")) // after its comment
			text = slices.Concat([]byte("\n```sh\n"), examples, []byte("```\n"))
		}
		all = append(all, text...)
	}
	return string(all)
}

func TestExamplesOfTheActionsDocumentReturnTheDocumentedStatus(t *testing.T) {
	only.Long(t, "runs every example with curl")
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("the examples need curl; make setup installs it:", err)
	}
	d := startWithActions(t, quietCluster())
	signed, tokens := d.startWithSignIn(t, "operator")
	r := &exampleRunner{t: t, d: d, dir: t.TempDir(), signed: signed,
		vars: map[string]string{"SERVER": strings.TrimRight(d.app.URL(), "/")}}
	must.Do(t, os.WriteFile(filepath.Join(r.dir, "auth"), []byte("Authorization: Bearer "+tokens[0]+"\n"), 0o600))
	done := 0
	for _, m := range shellBlock.FindAllStringSubmatch(actionsDocs(t), -1) {
		done += r.runBlock(m[1])
	}
	expect.That(t, done >= 35, "only %d examples were found", done)
}

func TestTheActionsDocumentNamesEveryKindAndState(t *testing.T) {
	text := actionsDocs(t)
	for _, k := range actions.Kinds() {
		expect.Contains(t, text, `{"kind": "`+string(k)+`"`, "%s has no example", k)
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
	expect.EqualSlices(t, slices.Sorted(maps.Keys(states)), want, "the document explains the states")
}
