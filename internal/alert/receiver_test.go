package alert

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

// canary is an address that must appear only in the request.
const canary = "https://hooks.example/services/CANARY-f00d?token=CANARY-beef"

// receiver is a fake receiver that answers as configured or not at all.
type receiver struct {
	mu     sync.Mutex
	got    []genericMessage
	raw    [][]byte
	status int   // 0: 200
	fail   error // returned instead of an answer
	hang   bool  // no answer until the request ends
	header http.Header
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hang {
		r.mu.Unlock()
		<-req.Context().Done()
		r.mu.Lock()
		return nil, req.Context().Err()
	}
	if r.fail != nil {
		return nil, r.fail
	}
	status := max(r.status, 200)
	if r.status != 0 {
		status = r.status
	}
	if status == 200 {
		var m genericMessage
		_ = json.Unmarshal(body, &m)
		r.got, r.raw = append(r.got, m), append(r.raw, body)
	}
	return &http.Response{StatusCode: status, Header: r.header, Body: io.NopCloser(strings.NewReader("CANARY")), Request: req}, nil
}

// received returns the alerts of the messages since the last call, each as id=status.
func (r *receiver) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, m := range r.got {
		for _, a := range m.Alerts {
			out = append(out, a.ID+"="+a.Status)
		}
	}
	r.got = nil
	return out
}

func (r *receiver) set(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// world is the state that the engine observes.
type world struct {
	mu      sync.Mutex
	notices []Notice
	unsure  string // rule that cannot be checked
	err     error
}

func (w *world) observe(context.Context) (Observed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	unsure := w.unsure
	return Observed{
		Cluster: "c1",
		Notices: append([]Notice(nil), w.notices...),
		Unsure:  func(rule, _ string) bool { return rule == unsure },
	}, w.err
}

func (w *world) setNotices(n ...Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices, w.unsure, w.err = n, "", nil
}

func (w *world) setUnsure(rule string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices, w.unsure, w.err = nil, rule, nil
}

var errLost = errors.New("lost")

func notice(id string, s Severity) Notice {
	return Notice{ID: id, Rule: "jumbo", Severity: s, Subject: "db." + id, Title: "title of " + id, Text: "text", Path: "/advice#" + id}
}

func parseConfig(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("alerts.yaml", []byte(text))
	must.Do(t, err)
	return c
}

const oneTarget = "for: 1m\ntargets:\n- {name: ops, format: generic, url: \"" + canary + "\", min_severity: warn, repeat: 1h}\n"

// openStore opens a store in a directory, which can be opened again.
func openStore(dir string) *sqlite.DB { return must.Get(sqlite.Open(context.Background(), dir)) }

func byAnna() store.AuditEntry { return store.AuditEntry{By: "user:anna"} }

func expectReceived(t *testing.T, when string, got []string, want ...string) {
	t.Helper()
	expect.Equal(t, strings.Join(got, " "), strings.Join(want, " "), "%s: received", when)
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
