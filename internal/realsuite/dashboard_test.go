package realsuite_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
)

const (
	// patience is how long something may take that needs no fault to heal first.
	patience = 90 * time.Second
	// healingPatience is how long a run may stay open after the cluster is whole again: the time limits
	// of its command, an election and the next look at it.
	healingPatience = 4 * time.Minute
)

// dashboard is the product as a process, serving one cluster.
type dashboard struct {
	testing.TB
	bin  string
	args []string
	dir  string // of its data
	root string // http://host:port
	out  *output
	cmd  *exec.Cmd
	done chan struct{}

	replicaDir string // of what replicas share
}

// output keeps what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) tail(n int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.text.String()
	return s[max(0, len(s)-n):]
}

// serve starts the product for a cluster; it ends with the test.
func serve(t testing.TB, uri string, more ...string) *dashboard {
	t.Helper()
	d := &dashboard{TB: t, bin: program(t), dir: t.TempDir(), out: &output{}}
	d.args = append([]string{"serve", "--listen", "127.0.0.1:0", "--auth", "none", "--actions", "on",
		"--uri-file", d.secretFile("uri", uri)}, more...)
	if !strings.Contains(strings.Join(more, " "), "--store-file") {
		d.args = append(d.args, "--data-dir", filepath.Join(d.dir, "data"), "--audit-key", filepath.Join(d.dir, "audit.key"))
	}
	d.start()
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			t.Logf("end of the output of shardboard:\n%s", d.out.tail(3000))
		}
	})
	return d
}

// secretFile writes a file that only this user can read.
func (d *dashboard) secretFile(name, text string) string {
	d.Helper()
	path := filepath.Join(d.dir, name)
	must.Do(d, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// start starts the process, again with the data that the last one left, and waits until it has read the
// cluster.
func (d *dashboard) start() {
	d.Helper()
	d.launch()
	d.eventually(patience, "shardboard is ready", func(ctx context.Context) error {
		return d.get(ctx, "/readyz?cluster=required", nil)
	})
}

// launch starts the process and waits until it serves.
func (d *dashboard) launch() {
	d.Helper()
	cmd := exec.Command(d.bin, d.args...)
	cmd.Env = append(os.Environ(), "SHARDBOARD_LOG_LEVEL=warn")
	cmd.Stderr = d.out
	stdout := must.Get(cmd.StdoutPipe())
	must.Do(d, cmd.Start())
	d.cmd, d.done = cmd, make(chan struct{})
	address := make(chan string, 1)
	go func() {
		defer close(d.done)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			_, _ = d.out.Write(append(in.Bytes(), '\n'))
			if at, ok := strings.CutPrefix(in.Text(), "shardboard is at "); ok {
				address <- strings.TrimSuffix(at, "/")
			}
		}
		_ = cmd.Wait()
	}()
	select {
	case d.root = <-address:
	case <-d.done:
		d.Fatalf("shardboard ended at its start:\n%s", d.out.tail(3000))
	case <-time.After(patience):
		d.Fatalf("shardboard does not serve:\n%s", d.out.tail(3000))
	}
}

// kill ends the process at once, also when it is frozen.
func (d *dashboard) kill() {
	if d.cmd != nil {
		_ = d.cmd.Process.Kill()
		<-d.done
		d.cmd = nil
	}
}

func (d *dashboard) signal(s syscall.Signal) {
	d.Helper()
	must.Do(d, d.cmd.Process.Signal(s))
}

// answerError is an answer with another status than 2xx.
type answerError struct {
	status int
	text   string
}

func (e *answerError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.text) }

func (d *dashboard) do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, d.root+path, in)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return &answerError{answer.StatusCode, strings.TrimSpace(string(text))}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

func (d *dashboard) get(ctx context.Context, path string, into any) error {
	return d.do(ctx, http.MethodGet, path, nil, into)
}

func (d *dashboard) post(ctx context.Context, path string, body, into any) error {
	return d.do(ctx, http.MethodPost, path, body, into)
}

// read reads one answer of the API, which has to come.
func (d *dashboard) read(path string, into any) {
	d.Helper()
	err := d.get(d.Context(), "/api/v1/"+path, into)
	must.That(d, err == nil, "%s: %v", path, err)
}

// eventually tries until it succeeds.
func (d *dashboard) eventually(limit time.Duration, what string, try func(context.Context) error) {
	d.Helper()
	err := until(d.Context(), limit, try)
	must.That(d, err == nil, "not within %s: %s: %v", limit, what, err)
}

func until(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err // not that the time is over
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return last
		}
	}
}

// plan is what the tests look at of a plan.
type plan struct {
	ID, Hash, Summary string
	Confirm           *string
	Blocked           bool
	Checks            []struct{ ID, Verdict, Text string }
	Commands          []struct {
		Op      string
		Command json.RawMessage
	}
	Undo struct{ Possible *bool }
}

// blockers are the checks that block it.
func (p plan) blockers() string {
	var all []string
	for _, c := range p.Checks {
		if c.Verdict == "block" {
			all = append(all, c.ID+": "+c.Text)
		}
	}
	return strings.Join(all, "; ")
}

// run is what the tests look at of a run.
type run struct {
	ID, Kind, State, Why string
	Open, CanUndo        bool
	Steps                []step
}

// step is one command of a run.
type step struct {
	Op, State, Why, Error string
	SentAt                *time.Time
	Waiting               *struct {
		Obstacle, Text string
		Until          *time.Time
	}
}

func (r run) String() string {
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, strings.TrimSpace(s.Op+" "+s.State+" "+s.Why+" "+s.Error))
	}
	return fmt.Sprintf("%s %s is %s %s [%s]", r.Kind, r.ID, r.State, r.Why, strings.Join(steps, "; "))
}

type args map[string]any

// plan makes a plan, which has to be possible.
func (d *dashboard) plan(kind string, a args) plan {
	d.Helper()
	p, err := d.tryPlan(kind, a)
	must.That(d, err == nil, "plan %s %v: %v", kind, a, err)
	must.That(d, !p.Blocked, "plan %s %v is blocked: %s", kind, a, p.blockers())
	return p
}

func (d *dashboard) tryPlan(kind string, a args) (p plan, err error) {
	if a == nil {
		a = args{}
	}
	err = d.post(d.Context(), "/api/v1/plans", map[string]any{"kind": kind, "args": a, "reason": "the suite"}, &p)
	return p, err
}

// begin runs a plan and returns at once.
func (d *dashboard) begin(p plan) string {
	d.Helper()
	var r run
	err := d.post(d.Context(), "/api/v1/plans/"+p.ID+"/run", map[string]any{"hash": p.Hash, "confirm": p.Confirm}, &r)
	must.That(d, err == nil, "run %s: %v", p.Summary, err)
	return r.ID
}

var errOpen = errors.New("it is open")

// wait waits for the end of a run.
func (d *dashboard) wait(id string, limit time.Duration) (r run) {
	d.Helper()
	d.eventually(limit, "the run has ended", func(ctx context.Context) error {
		if err := d.get(ctx, "/api/v1/runs/"+id, &r); err != nil {
			return err
		}
		if r.Open {
			return fmt.Errorf("%w: %s", errOpen, r)
		}
		return nil
	})
	return r
}

// change plans and runs a change, which has to succeed.
func (d *dashboard) change(kind string, a args) run {
	d.Helper()
	return d.succeed(d.plan(kind, a))
}

func (d *dashboard) succeed(p plan) run {
	d.Helper()
	r := d.wait(d.begin(p), healingPatience)
	must.That(d, r.State == "succeeded", "%s: %s", p.Summary, r)
	return r
}

// undo plans the inverse of a run.
func (d *dashboard) undo(id string) plan {
	d.Helper()
	var p plan
	err := d.post(d.Context(), "/api/v1/runs/"+id+"/undo", nil, &p)
	must.That(d, err == nil, "undo: %v", err)
	must.That(d, !p.Blocked, "the undo is blocked: %s", p.blockers())
	return p
}
