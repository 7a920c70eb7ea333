package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

const goodPassword = "correct horse battery"

// fixture is a Service over a real store, with a clock set by hand.
type fixture struct {
	*Service
	db  *sqlite.DB
	dir string
	log *syncBuffer

	mu  sync.Mutex
	now time.Time
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (h *fixture) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *fixture) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// emptyStore is the file of a store without users. It is made once, because that takes longer than most tests.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqlite.FileName))
})

// newFixture makes a Service with cheap hashes; change adapts the options.
func newFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	h := &fixture{dir: t.TempDir(), log: &syncBuffer{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	made, err := emptyStore()
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(h.dir, sqlite.FileName), made, 0o600))
	h.db = must.Get(sqlite.Open(t.Context(), h.dir))
	t.Cleanup(func() { _ = h.db.Close() })
	h.Service = h.service(t, change...)
	return h
}

// service returns another Service over the same store, like another process.
func (h *fixture) service(t *testing.T, change ...func(*Options)) *Service {
	t.Helper()
	o := Options{Store: h.db, Log: slog.New(slog.NewTextHandler(h.log, nil)), Now: h.clock, Mode: ModeLocal, Cost: Cost{Memory: 64, Time: 1}}
	for _, c := range change {
		c(&o)
	}
	s, err := New(o)
	must.Do(t, err)
	return s
}

func (h *fixture) add(t *testing.T, name string, role Role) User {
	t.Helper()
	u, err := h.CreateUser(t.Context(), Console(), NewUser{Name: name, Password: goodPassword, Role: role})
	must.Do(t, err)
	return u
}

// signIn signs somebody in and returns the cookie and the principal.
func (h *fixture) signIn(t *testing.T, name string) (*http.Cookie, Principal) {
	t.Helper()
	c, p, err := h.SignIn(t.Context(), Credentials{Name: name, Password: goodPassword, From: "192.0.2.1"})
	must.Do(t, err)
	return c, p
}

// newRequest makes a request from an address, with a cookie if not nil.
func newRequest(from string, cookie *http.Cookie, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = from + ":1234"
	if strings.Contains(from, ":") {
		r.RemoteAddr = "[" + from + "]:1234"
	}
	if cookie != nil {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func (h *fixture) identify(cookie *http.Cookie, headers ...string) (Principal, error) {
	return h.Identify(httptest.NewRecorder(), newRequest("192.0.2.1", cookie, headers...))
}

// auditRecords returns the audit entries of a kind.
func (h *fixture) auditRecords(t *testing.T, what string) (out []store.AuditRecord) {
	t.Helper()
	rows, err := h.db.AuditRecords(t.Context(), 0, 10_000)
	must.Do(t, err)
	for _, r := range rows {
		if r.What == what {
			out = append(out, r)
		}
	}
	return out
}

// countAttempts is the number of attempts that the entries stand for.
func countAttempts(t *testing.T, records []store.AuditRecord) (n int) {
	t.Helper()
	for _, r := range records {
		one := 1
		if text := r.Details["count"]; text != "" {
			one = must.Get(strconv.Atoi(text))
		}
		n += one
	}
	return n
}

// expectAnonymous is for what a request was identified as: expectAnonymous(t, what)(h.identify(cookie)).
func expectAnonymous(t *testing.T, what string) func(Principal, error) {
	return func(p Principal, err error) {
		t.Helper()
		expect.That(t, errors.Is(err, ErrNobody) && p.ID == "", "%s: %+v, %v; want nobody", what, p, err)
	}
}

// ended returns a channel that is closed when p's session or token ends.
func (h *fixture) ended(p Principal) <-chan struct{} {
	c := make(chan struct{})
	h.AfterEnd(p, func() { close(c) })
	return c
}

// same reports whether two principals are the same in every field.
func same(a, b Principal) bool { return reflect.DeepEqual(a, b) }

// closed reports whether a channel is closed now.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
