package web_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/history"
	"shardboard/internal/outcome"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// storeTrouble is a way in which the store fails: with which error, and whether reads do.
type storeTrouble struct {
	err   error
	reads bool
	code  store.TroubleCode
}

func storeTroubles() map[string]storeTrouble {
	return map[string]storeTrouble{
		"full":                {result{13, "database or disk is full"}, false, store.TroubleFull},
		"quota":               {syscall.EDQUOT, false, store.TroubleQuota},
		"read-only":           {syscall.EROFS, false, store.TroubleReadOnly},
		"locked":              {result{5, "database is locked"}, false, store.TroubleBusy},
		"locked for readers":  {result{6, "database table is locked"}, true, store.TroubleBusy},
		"disk errors":         {syscall.EIO, true, store.TroubleDevice},
		"too many open files": {syscall.EMFILE, true, store.TroubleFiles},
		"not permitted":       {syscall.EACCES, true, store.TroubleDenied},
		"a missing table":     {result{1, "SQL logic error: no such table: runs"}, true, store.TroubleSchema},
		"damaged":             {result{11, "database disk image is malformed"}, true, store.TroubleDamaged},
	}
}

// Every route, with a store that fails in every way: nothing is a defect of ours,
// nothing breaks, and what cannot be answered is a 503 with cause and remedy.
func TestNoFailureOfTheStoreIsAnInternalError(t *testing.T) {
	for name, trouble := range storeTroubles() {
		if os.Getenv("SHARDBOARD_LONG") == "" && (testing.Short() || name != "damaged" && name != "a missing table") && name != "full" {
			continue // the words of each are tested where they are made
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			webtest.OnBreakableCluster(t, simcluster.Options{Projects: 4, Documents: 60, Still: true}, func(f *webtest.BreakableServer) {
				defer onStore(f)()
				p, done := f.Plan("anna", webtest.SplitAt(1)), runThatCanBeUndone(f)
				questions := append(questionsTo(f, p, done), changesTo(f, done)...)
				f.Disk.Breaks(func(statement string) error {
					if trouble.reads || writes(statement) {
						return trouble.err
					}
					return nil
				})
				failed := 0
				for i, q := range questions {
					who := fmt.Sprintf("asker-%d", i)
					if strings.HasSuffix(q.path, "/run") {
						who = "anna" // the plan is hers
					}
					w := askAs(f, who, auth.Admin, q)
					if answersOutage(f, q, w) {
						failed++
					}
				}
				expect.That(t, failed >= len(changesTo(f, done))/2, "only %d of %d requests met the store", failed, len(questions))
				now := f.DB.Trouble()
				must.That(t, now != nil && now.Code == trouble.code, "%+v", now)
				w := f.Do("GET", "/metrics", webtest.As("anna", auth.Viewer))
				expect.That(t, strings.Contains(w.Body.String(), "shardboard_data_trouble 1"), "no metric")
				w = f.Do("GET", "/readyz", webtest.As("anna", auth.Viewer))
				expect.That(t, (w.Code == http.StatusOK) != f.DB.Trouble().Lasting(), "readyz: %d %s", w.Code, w.Body)
				page := f.Page(t, "/zones", webtest.As("anna", auth.Operator),
					webtest.Header("Accept", "text/html")).
					Find("body").
					Text()
				expect.Contains(t, page, f.DB.Trouble().Cause, "the banner")
			})
		})
	}
}

// askAs is askOne with a role.
func askAs(f *webtest.BreakableServer, who string, role auth.Role, q question) *httptest.ResponseRecorder {
	change := []func(*http.Request){webtest.As(who, role)}
	switch {
	case q.page && q.method == http.MethodPost:
		change = append(change, webtest.EncodedForm(q.body))
	case q.body != "":
		change = append(change, webtest.Body(q.body), webtest.Header("Content-Type", "application/json"))
	}
	if q.page {
		change = append(change, webtest.Header("Accept", "text/html"))
	}
	return f.Do(q.method, q.path, change...)
}

// answersOutage checks an answer, and tells whether it is a failure of the store.
func answersOutage(f *webtest.BreakableServer, q question, w *httptest.ResponseRecorder) bool {
	f.Helper()
	text := w.Body.String()
	switch {
	case w.Code == http.StatusInternalServerError || w.Code == http.StatusGatewayTimeout:
		f.Errorf("%s: %d %.400s", q, w.Code, text)
	case strings.Contains(text, inside):
		at := strings.Index(text, inside)
		f.Errorf("%s: %d says …%s…", q, w.Code, text[max(0, at-200):min(len(text), at+100)])
	}
	if w.Code != http.StatusServiceUnavailable {
		return false
	}
	now := f.DB.Trouble()
	if now == nil || q.path == "/readyz" {
		return false
	}
	says := said(f, q, w)
	expect.ContainsAll(f, says, []string{now.Title(), now.Cause, now.Remedy}, "%s", q)
	expect.That(f, w.Header().Get("Retry-After") != "", "%s: no Retry-After", q)
	return true
}

// Who is not signed in is not told where our files are.
func TestTroubleIsToldWithoutPathsToWhoIsNotSignedIn(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 2, Documents: 10, Still: true}, func(f *webtest.BreakableServer) {
		service, err := auth.New(auth.Options{Store: f.DB, Mode: auth.ModeLocal, Cost: auth.Cost{Memory: 64, Time: 1}})
		f.Must(err)
		defer onStore(f, func(d *site.Deps) { d.Access.Auth = service })()
		f.Disk.Breaks(func(string) error { return syscall.EIO })
		for _, path := range []string{"/", "/login", "/api/v1/me", "/runs"} {
			w := f.Do("GET", path, func(r *http.Request) {
				r.AddCookie(&http.Cookie{Name: "shardboard", Value: strings.Repeat("A", 43)})
			})
			now := f.DB.Trouble()
			if now == nil || w.Code != http.StatusServiceUnavailable || !strings.Contains(html.UnescapeString(w.Body.String()), now.Title()) ||
				strings.Contains(w.Body.String(), "shardboard.db") ||
				strings.Contains(w.Body.String(), "in a few seconds") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		w := f.Do("POST", "/login", webtest.EncodedForm("name=anna&password=correct-horse-battery"), webtest.Header("Accept", "text/html"))
		text := html.UnescapeString(w.Body.String())
		expect.That(t, w.Code == http.StatusServiceUnavailable &&
			strings.Contains(text, f.DB.Trouble().Title()) && !strings.Contains(text, "shardboard.db"), "POST /login: %d %s", w.Code, text)
		expect.Contains(t, f.Log.String(), syscall.EIO.Error(), "the log")
	})
}

// Nor are those who could not repair them: their role says so.
func TestTroubleIsToldWithoutPathsToViewersAndSupport(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 2, Documents: 10, Still: true}, func(f *webtest.BreakableServer) {
		defer onStore(f)()
		f.Disk.Breaks(func(string) error { return syscall.EIO })
		for _, q := range []question{{method: "GET", path: "/runs", page: true}, {method: "GET", path: "/api/v1/runs"},
			{method: "GET", path: "/settings", page: true},
			{method: "POST", path: "/settings/tokens", page: true, body: "name=x&role=viewer&days=7"},
			{method: "GET", path: "/alerts", page: true}} {
			for _, role := range []auth.Role{auth.Viewer, auth.Support, auth.Operator} {
				w := askAs(f, "vera", role, q)
				says, now := html.UnescapeString(w.Body.String()), f.DB.Trouble()
				expect.That(t, now != nil && strings.Contains(says, now.Title()) && strings.Contains(says, f.Dir) == (role == auth.Operator),
					"%s %s: %d, %v", role, q, w.Code, now)
			}
		}
	})
}

// A form has no heading, so its sentence begins with what is wrong.
func TestTheSignInFormSaysTheTroubleWithoutPaths(t *testing.T) {
	full := store.Trouble{Code: store.TroubleFull, Cause: "No space is left for /var/x/shardboard.db.", Remedy: "Free some space."}
	text := fault.Text(site.ShownInForm(httptest.NewRequest("POST", "/login", nil), full.Failed(nil)))
	expect.That(t, strings.HasPrefix(text, full.Title()+". ") && !strings.Contains(text, "/var/x"), "%v", text)
}

// After a defect of ours the page shows a reference that leads to its line in the log.
func TestReferenceOfAnErrorPageIsInTheLog(t *testing.T) {
	for name, bug := range map[string]func() error{
		"an unknown error": func() error { return errors.New("the cogs are stuck") },
		"a panic":          func() error { panic("the cogs are stuck") },
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			t.Run(name+" "+accept, func(t *testing.T) {
				s := webtest.New(t)
				s.Whole = s.Outside(s.Recovered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Fail(w, r, bug()) })))
				w := s.Do("GET", "/zones", webtest.Header("Accept", accept))
				ref := regexp.MustCompile(`ref=([0-9a-f]{8})`).FindStringSubmatch(w.Body.String())
				must.That(t, w.Code == http.StatusInternalServerError && ref != nil && strings.Contains(w.Body.String(), inside) &&
					strings.Contains(w.Body.String(), "2026-03-01 12:00:00 UTC"), "%d %s", w.Code, w.Body)
				for line := range strings.SplitSeq(s.Log.String(), "\n") {
					if strings.Contains(line, "ref="+ref[1]) && strings.Contains(line, "the cogs are stuck") {
						return
					}
				}
				t.Errorf("no line has ref=%s and the cause:\n%s", ref[1], s.Log)
			})
		}
	}
}

// accounts are the real accounts, asked by whom a header names: who is asking is known
// also while the store fails, so that every route is reached.
type accounts struct{ *auth.Service }

func (accounts) Identify(w http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	return webtest.PeopleByHeader{}.Identify(w, r)
}

// trail is the audit record of a store, as the program has it.
type trail struct {
	store.Store
	*audit.Keeper
}

func (t trail) AuditNames(ctx context.Context) (map[string]string, error) {
	_, err := t.Users(ctx)
	return map[string]string{}, err
}

func (t trail) BoundTokens(ctx context.Context) (map[string][]string, error) {
	_, err := t.Tokens(ctx, "")
	return nil, err
}

// onStore makes everything of the site that reads or writes the store a real one.
// Its result ends what it has started.
func onStore(f *webtest.BreakableServer, change ...func(*site.Deps)) (end func()) {
	f.Helper()
	log := slog.New(slog.DiscardHandler)
	service, err := auth.New(auth.Options{Store: f.DB, Mode: auth.ModeLocal, Cost: auth.Cost{Memory: 64, Time: 1}})
	f.Must(err)
	past := history.NewPast(f.DB, nil)
	f.Must(history.NewRecorder(f.DB, f.Watcher, log, nil).Note(f.Context(), f.Watcher.Table()))
	outcomes := outcome.New(outcome.Options{Runs: f.Engine, Tables: f.Watcher, Profile: profile.Yorkie(), Store: f.DB, Log: log})
	all := append([]func(*site.Deps){webtest.WithActions(f.Engine), f.Wired, func(d *site.Deps) {
		d.Access.Auth, d.Past.History, d.Changes.Outcomes, d.Store.Trouble = accounts{service}, past, outcomes, f.DB.Trouble
		d.Audit.Trail = trail{f.DB, audit.NewKeeper(f.DB, audit.Options{})}
		d.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: d.Cluster.Watcher, Directories: d.Cluster.Keeper,
			Profile: profile.Yorkie(), Past: past, Notices: f.DB, Log: log})
		d.Problems.Alerts = alert.New(&alert.Config{}, problems.AlertSource(d.Problems.Advice, false), f.DB, alert.Options{})
	}}, change...)
	f.Server = webtest.New(f.T, all...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = f.Deps.Problems.Alerts.Run(ctx) })
	synctest.Wait() // it knows the cluster now
	return func() { cancel(); running.Wait() }
}

// changesTo are requests that write, beside those of questionsTo.
func changesTo(f *webtest.BreakableServer, run string) (out []question) {
	const password = "a long sentence nobody guesses 77"
	page := func(path, body string) {
		out = append(out, question{method: "POST", path: path, body: body, page: true})
	}
	script := func(path, body string) {
		out = append(out, question{method: "POST", path: api.Prefix + path, body: body})
	}
	page("/settings/password", "present="+password+"&password="+password+"x")
	page("/settings/sessions/none/revoke", "")
	page("/settings/tokens", "name=a&role=viewer&days=3")
	page("/settings/tokens/none/revoke", "")
	page("/settings/users", "name=berta&role=viewer&password="+password)
	page("/settings/users/anna", "do=disable&role=viewer")
	page("/runs/"+run+"/stop", "")
	page("/runs/"+run+"/finish", "reason=a+test")
	page("/surveys/none/stop", "")
	page("/advice/dismiss", "id=none&reason=a+test")
	page("/advice/restore", "id=none")
	page("/alerts/silences", "rule=jumbo&for=8h&reason=a+test")
	page("/alerts/silences/end", "id=none")
	page("/login", "name=anna&password="+password)
	page("/login/first", "key=none&name=anna&password="+password)
	page("/logout", "")
	script("/sessions/none/revoke", "")
	script("/tokens", fmt.Sprintf(`{"name":"a","role":"viewer","expires":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339)))
	script("/tokens/none/revoke", "")
	script("/users", `{"name":"berta","role":"viewer","password":"`+password+`"}`)
	script("/users/anna", `{"disabled":true}`)
	script("/runs/"+run+"/stop", "")
	script("/runs/"+run+"/finish", `{}`)
	script("/surveys/none/stop", "")
	script("/advice/none/dismiss", `{"reason":"a test"}`)
	script("/advice/none/restore", "")
	script("/alerts/silences", `{"rule":"jumbo","for":"8h","reason":"a test"}`)
	script("/alerts/silences/end", `{"id":"none"}`)
	return out
}

// result is a failure with a result code of SQLite.
type result struct {
	code int
	text string
}

func (r result) Error() string { return fmt.Sprintf("%s (%d)", r.text, r.code) }

func (r result) Code() int { return r.code }

// writes tells whether a statement changes something.
func writes(statement string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	return first == "BEGIN" || first == "COMMIT" || first == "INSERT" || first == "UPDATE" || first == "DELETE"
}
