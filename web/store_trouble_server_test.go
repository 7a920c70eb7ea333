package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/history"
	"shardboard/internal/outcome"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

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
		d.Problems.Advice = rules.NewAdvisor(
			rules.Sources{Tables: d.Cluster.Watcher, Directories: d.Cluster.Keeper, Profile: profile.Yorkie(), Past: past, Notices: f.DB, Log: log},
		)
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
