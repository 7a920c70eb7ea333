package web_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// stored is a table of the store: where its rows are read, and what of the rows that
// are in order has to be there still.
type stored struct {
	table string
	reads []string // addresses that read it
	wants string   // of the row that stays as it was; "" where a row has no name of its own
	which string   // the row that is damaged
	keep  []string // columns that name or order a row: they are left as they are
}

// rubbish is what is written into a column of a type: not of the type's meaning.
func rubbish(kind string) []string {
	switch kind {
	case "BLOB":
		return []string{`x'00ff7b8001'`, `CAST('{"State":7,"Steps":"x"}' AS BLOB)`, `CAST('{}' AS BLOB)`}
	case "TEXT":
		return []string{`'from-the-future'`, `CAST(x'fffe00ff' AS TEXT)`}
	}
	return []string{`9223372036854775807`, `-7`}
}

// One row of rubbish in any column of any table: every list that reads it is still
// there, with the other rows.
func TestOneUnreadableRowBreaksNoList(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 4, Documents: 60, Still: true}, func(f *webtest.BreakableServer) {
		defer onStore(f)()
		ctx, now := f.Context(), time.Now().UTC()
		first, second := runThatCanBeUndone(f), ""
		time.Sleep(2 * time.Second) // another name for its zone
		second = runThatCanBeUndone(f)
		cluster := f.Watcher.Table().ClusterID
		for i, name := range []string{"row-a", "row-b"} {
			id, at := fmt.Sprint(i), now.Add(time.Duration(i)*time.Second)
			e := store.AuditEntry{At: at, What: "test", By: "user:" + id, Subject: name}
			f.Must(f.DB.CreateUser(ctx, store.User{ID: id, Name: name, Role: "viewer", Created: at}, e))
			f.Must(f.DB.CreateSession(ctx, store.Session{ID: name, Hash: []byte(name), Subject: "user:1", Name: name, Role: "viewer",
				Method: "password", Created: at, Used: at, Expires: at.Add(time.Hour)}, "", e))
			f.Must(f.DB.CreateToken(ctx, store.Token{ID: name, Hash: []byte(name), Name: name, Role: "viewer", Owner: "user:anna",
				Created: at, Expires: at.Add(time.Hour)}, e))
			f.Must(f.DB.Dismiss(ctx, cluster, store.Dismissal{ID: name, By: "user:" + id, Reason: name, At: at}, e))
			f.Must(f.DB.AddSilence(ctx, cluster, store.Silence{ID: name, Rule: "jumbo", By: "user:" + id, Reason: name, At: at,
				Until: at.Add(time.Hour)}, e))
			f.Must(f.DB.AddWatch(ctx, cluster, store.Watch{Kind: "project", Subject: name, By: "user:anna", At: at}))
			f.Must(f.DB.SaveRunOutcome(ctx, cluster, store.RunOutcome{Run: []string{first, second}[i], At: at, Body: []byte(`{}`)}))
			f.Must(f.DB.SaveHead(ctx, store.AuditHead{Seq: int64(i + 1), Hash: []byte{1}, At: at, Key: []byte{2}, Signature: []byte{3}}))
		}
		timeline := []string{
			"/activity", "/api/v1/history?from=" + now.Add(-time.Hour).Format(time.RFC3339),
			"/history/step?at=" + now.Format(time.RFC3339), "/collections?at=" + now.Format(time.RFC3339),
			"/compare?from=" + now.Add(-time.Minute).Format(time.RFC3339) + "&to=" + now.Format(time.RFC3339),
		}
		raw, err := sql.Open("sqlite", filepath.Join(f.Dir, "shardboard.db")+"?_pragma=busy_timeout(5000)")
		f.Must(err)
		defer raw.Close()
		raw.SetMaxOpenConns(1)
		for _, s := range []stored{
			{table: "runs", reads: []string{"/runs", "/api/v1/runs", "/runs/" + second, "/api/v1/runs/" + second}, wants: second,
				which: `id = '` + first + `'`, keep: []string{"seq", "id", "plan", "cluster"}},
			{table: "plans", reads: []string{"/runs", "/runs/" + first, "/api/v1/runs/" + first}, wants: first,
				which: `id = (SELECT plan FROM runs WHERE id = '` + first + `')`, keep: []string{"id", "cluster"}},
			{table: "run_outcomes", reads: []string{"/runs", "/runs/" + first, "/api/v1/runs/" + first}, wants: first,
				which: `run = '` + first + `'`, keep: []string{"cluster", "run"}},
			{table: "users", reads: []string{"/settings/users", "/api/v1/users", "/audit"}, wants: "row-b", which: `name = 'row-a'`,
				keep: []string{"id"}},
			{table: "sessions", reads: []string{"/settings", "/api/v1/sessions"}, wants: "row-b", which: `id = 'row-a'`,
				keep: []string{"id", "subject"}},
			{table: "tokens", reads: []string{"/settings", "/api/v1/tokens"}, wants: "row-b", which: `id = 'row-a'`, keep: []string{"id", "owner"}},
			{table: "dismissals", reads: []string{"/advice?dismissed=1", "/api/v1/advice?dismissed=1"}, which: `id = 'row-a'`,
				keep: []string{"cluster"}},
			{table: "silences", reads: []string{"/alerts", "/api/v1/alerts"}, which: `id = 'row-a'`, keep: []string{"cluster"}},
			{table: "watches", reads: []string{"/watch"}, which: `subject = 'row-a'`, keep: []string{"cluster"}},
			{table: "audit", reads: []string{"/audit", "/api/v1/audit"}, wants: "row-b", which: `seq = 2`, keep: []string{"seq"}},
			{table: "audit_heads", reads: []string{"/audit", "/api/v1/audit/heads"}, which: `seq = 1`},
			{table: "history", reads: timeline, which: `seq = (SELECT max(seq) FROM history WHERE stream LIKE 'chunks%')`,
				keep: []string{"seq", "cluster", "stream"}},
			{table: "history_events", reads: timeline, which: `id = (SELECT min(id) FROM history_events)`, keep: []string{"cluster"}},
			{table: "history_watched", reads: timeline, which: `since = (SELECT min(since) FROM history_watched)`, keep: []string{"cluster"}},
		} {
			checkDamaged(f, raw, s)
		}
		f.Must(f.DB.Close())
	})
}

// checkDamaged writes rubbish into each column of a row, one after the other, and reads.
func checkDamaged(f *webtest.BreakableServer, raw *sql.DB, s stored) {
	f.Helper()
	columns, err := raw.Query(`SELECT name, type FROM pragma_table_info(?)`, s.table)
	f.Must(err)
	var names, kinds []string
	for columns.Next() {
		var name, kind string
		f.Must(columns.Scan(&name, &kind))
		names, kinds = append(names, name), append(kinds, kind)
	}
	f.Must(columns.Close())
	tried := 0
	for i, column := range names {
		if slices.Contains(s.keep, column) {
			continue
		}
		for _, value := range rubbish(kinds[i]) {
			f.Must(execute(raw, `CREATE TEMP TABLE saved AS SELECT * FROM `+s.table))
			if err := execute(raw, `UPDATE `+s.table+` SET `+column+` = `+value+` WHERE `+s.which); err != nil {
				f.Must(execute(raw, `DROP TABLE saved`)) // it must be unique, or of those that refer to it
				continue
			}
			tried++
			for n, path := range s.reads {
				accept := "application/json"
				if !strings.HasPrefix(path, "/api/") {
					accept = "text/html"
				}
				w := f.Do("GET", path, webtest.As("anna", auth.Admin), webtest.Header("Accept", accept))
				body := w.Body.String()
				found := s.wants == "" || strings.Contains(body, s.wants) || s.table == "users" && n == 2
				if w.Code >= http.StatusInternalServerError || strings.Contains(body, inside) || !found {
					f.Errorf("%s.%s = %s: GET %s: %d, the other row is there: %v\n%.300s", s.table, column, value,
						path, w.Code, found,
						strings.Join(strings.Fields(body[max(0, strings.Index(body, `class="failure"`)):]), " "))
				}
			}
			f.Must(execute(raw, `PRAGMA foreign_keys = 0`))
			f.Must(execute(raw, `DELETE FROM `+s.table))
			f.Must(execute(raw, `INSERT INTO `+s.table+` SELECT * FROM saved`))
			f.Must(execute(raw, `DROP TABLE saved`))
		}
	}
	expect.That(f, tried >= 2, "%s: only %d damages could be tried", s.table, tried)
}

func execute(db *sql.DB, statement string) error {
	_, err := db.Exec(statement)
	return err
}

// Of a run that cannot be decoded it is not known what it did: it is shown, and can be
// neither undone nor finished.
func TestAnUnreadableRunIsShownAndCannotBeUndone(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 2, Documents: 10, Still: true}, func(f *webtest.BreakableServer) {
		id := runThatCanBeUndone(f)
		r, err := f.DB.RunRecord(f.Context(), id)
		f.Must(err)
		r.Body = []byte("\xff{")
		f.Must(f.DB.SaveRun(f.Context(), r))
		for path, accept := range map[string]string{"/runs": "text/html", "/runs/" + id: "text/html", "/api/v1/runs": "",
			"/api/v1/runs/" + id: ""} {
			w := f.Do("GET", path, webtest.As("anna", auth.Operator), webtest.Header("Accept", accept))
			expect.That(f, w.Code == http.StatusOK && strings.Contains(w.Body.String(), "unreadable") && strings.Contains(w.Body.String(), id),
				"%s: %d %.300s", path, w.Code, w.Body)
		}
		for _, what := range []string{"undo", "finish"} {
			w := f.Post("anna", "/api/v1/runs/"+id+"/"+what, `{}`)
			expect.That(f, w.Code == http.StatusConflict && strings.Contains(w.Body.String(), "This run is unreadable"),
				"%s: %d %s", what, w.Code, w.Body)
		}
	})
}

// While a server that was started again reads the table, an open page asks for itself: it must not be told that what it
// shows does not exist, because it shows that for good.
func TestNothingIsMissingBeforeTheTableIsLoaded(t *testing.T) {
	unread := &webtest.StubWatcher{}
	unread.Value = &topology.Table{}
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Watcher = unread })
	for _, path := range []string{"/collections/yorkie-meta.changes", "/collections/yorkie-meta.changes/owners",
		"/shards/shard-rs-1", "/shards/shard-rs-1/why"} {
		expect.Equal(t, s.Do("GET", path).Code, http.StatusServiceUnavailable, "%s", path)
	}
}
