package survey_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// fixture is a survey engine on a simulated cluster.
type fixture struct {
	*simulated.Cluster
	engine *survey.Engine
	end    func() // stops the engine
}

func onSim(t *testing.T, o simcluster.Options, st store.Surveys, test func(t *testing.T, r *fixture)) {
	t.Helper()
	o.Still = true
	simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
		r := &fixture{Cluster: c}
		r.start(t, c.Client, survey.Options{Store: st})
		defer func() { r.end() }()
		test(t, r)
	})
}

// start creates and runs an engine, as a new process does.
func (r *fixture) start(t *testing.T, src survey.Source, o survey.Options) {
	if r.end != nil {
		r.end()
	}
	r.engine = survey.New(src, r.Watcher, r.Keeper, profile.Yorkie(), o)
	r.end = simulated.Start(t, r.engine.Run)
}

func entryByAnna() store.AuditEntry {
	return store.AuditEntry{By: "user:1", Via: "password", From: "192.0.2.1"}
}

func entryByBen() store.AuditEntry { return store.AuditEntry{By: "user:2", Via: "token"} }

// waitForEnd waits until a survey has ended.
func (r *fixture) waitForEnd(t *testing.T, id string) (survey.Survey, *survey.Result) {
	t.Helper()
	for range 24 * 60 {
		s, result, err := r.engine.Survey(t.Context(), id)
		must.Do(t, err)
		if s.State.Ended() {
			return s, result
		}
		time.Sleep(time.Second)
	}
	t.Fatal("the survey does not end")
	return survey.Survey{}, nil
}

func (r *fixture) runSurvey(t *testing.T, q survey.Request) (survey.Survey, *survey.Result) {
	t.Helper()
	s, err := r.engine.Start(t.Context(), q, entryByAnna())
	must.Do(t, err)
	return r.waitForEnd(t, s.ID)
}

// rowTotals are the true totals of a set of rows.
type rowTotals struct{ rows, bytes, dead int64 }

// rowsByID sums all rows of a collection by an id.
func (r *fixture) rowsByID(t *testing.T, coll, field string, dead func(bson.Raw) bool) map[bson.ObjectID]rowTotals {
	t.Helper()
	out := map[bson.ObjectID]rowTotals{}
	for _, doc := range r.Rows(t, topology.Namespace(db+"."+coll)) {
		id := doc.Lookup(field).ObjectID()
		w := out[id]
		w.rows++
		w.bytes += int64(len(doc))
		if dead != nil && dead(doc) {
			w.dead++
		}
		out[id] = w
	}
	return out
}

func isRemoved(d bson.Raw) bool     { _, err := d.LookupErr("removed_at"); return err == nil }
func isDeactivated(d bson.Raw) bool { return d.Lookup("status").StringValue() == "deactivated" }

func collectionOf(t *testing.T, r *survey.Result, name string) survey.Collection {
	t.Helper()
	for _, c := range r.Collections {
		if c.NS.Collection() == name {
			return c
		}
	}
	t.Fatalf("no collection %s in the result: %+v", name, r.Collections)
	return survey.Collection{}
}

// checkAgainstTruth compares a survey's lines with the true totals.
func checkAgainstTruth(t *testing.T, c survey.Collection, truth map[bson.ObjectID]rowTotals) {
	t.Helper()
	if c.Method != survey.MethodCounted || !c.Complete {
		t.Errorf("%s: method %s, complete %v, want c.Method %v, c.Complete true", c.NS, c.Method, c.Complete, survey.MethodCounted)
	}
	seen := map[bson.ObjectID]bool{}
	for _, l := range c.Projects {
		want := truth[l.Project]
		seen[l.Project] = true
		if l.Rows.Value != want.rows || l.Bytes.Value != want.bytes || !l.Rows.Exact {
			t.Errorf("%s of %s: %+v, truth %+v", c.NS, l.Project.Hex(), l.Weight, want)
		}
		if l.Dead != nil && l.Dead.Rows.Value != want.dead {
			t.Errorf("%s of %s: %d dead, truth %d", c.NS, l.Project.Hex(), l.Dead.Rows.Value, want.dead)
		}
		var parts int64
		for _, s := range l.Shards {
			parts += s.Rows.Value
			expect.That(t, s.Shard != "", "%s: a line has no shards", c.NS)
		}
		expect.That(t, parts == want.rows, "%s: the shards have %d of %d rows", c.NS, parts, want.rows)
	}
	for id, want := range truth {
		expect.That(t, seen[id], "%s: project %s with %d rows is missing", c.NS, id.Hex(), want.rows)
	}
}

// deadRows tell which rows of a collection are dead.
var deadRows = map[string]func(bson.Raw) bool{"documents": isRemoved, "clients": isDeactivated}

func TestSurveysOfEachKindAreExactWithinTheBudget(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 300}, nil, func(t *testing.T, r *fixture) {
		began := time.Now()
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		if s.State != survey.Done || s.Progress.Done == 0 || s.Progress.Done != s.Progress.Total || s.By != "user:1" {
			t.Fatalf("got %+v, want all of it done by user:1", s)
		}
		took, read := time.Since(began), r.Log.Documents(began)
		if read > int(took.Seconds()*heat.PerSecond)+1 || int64(read) < s.Progress.Done || s.Progress.Returned > int64(read) {
			t.Errorf("%d documents were returned in %s: %+v", read, took, s.Progress)
		}
		for _, name := range []string{"documents", "clients", "schemas"} {
			checkAgainstTruth(t, collectionOf(t, result, name), r.rowsByID(t, name, "project_id", deadRows[name]))
		}

		id := r.Keeper.Directory().All()[2].ID
		if s, result = r.runSurvey(t, survey.Request{Kind: survey.Project, Project: id}); s.State != survey.Done {
			t.Fatalf("one project: got %+v", s)
		}
		for _, name := range []string{"documents", "clients", "schemas", "changes", "snapshots", "versionvectors", "snapshot_bodies"} {
			all := r.rowsByID(t, name, "project_id", deadRows[name])
			want := map[bson.ObjectID]rowTotals{}
			if w, ok := all[id]; ok {
				want[id] = w
			}
			checkAgainstTruth(t, collectionOf(t, result, name), want)
		}
		if found := r.engine.Findings(db, id); len(found) < 7 || found[0].Line == nil {
			t.Errorf("%d findings", len(found))
		}

		for doc, want := range r.rowsByID(t, "changes", "doc_id", nil) {
			s, result := r.runSurvey(t, survey.Request{Kind: survey.Document, Document: doc})
			c := collectionOf(t, result, "changes")
			must.That(t, s.State == survey.Done && len(c.Documents) == 1, "one document: got %+v %+v", s, c)
			l := c.Documents[0]
			if l.Rows.Value != want.rows || l.Bytes.Value != want.bytes || !l.Rows.Exact || len(l.Shards) != 1 || l.Shards[0].Shard == "" {
				t.Errorf("%+v, truth %+v", l, want)
			}
			if b := collectionOf(t, result, "snapshot_bodies"); b.Reason != "" || !b.Complete { // not sharded
				t.Errorf("got %+v, want a complete count", b)
			}
			break
		}
	})
}

func TestSurveyNeverReadsMoreThanTheSharedBudget(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 1500}, nil, func(t *testing.T, r *fixture) {
		budget := heat.NewBudget(20, nil)
		budget.Hold(budget.Burst()) // another reader has used up the saved budget
		r.start(t, r.Client, survey.Options{Budget: budget})
		began := time.Now()
		s, _ := r.runSurvey(t, survey.Request{Kind: survey.Project, Project: r.Keeper.Directory().All()[0].ID})
		if read, took := r.Log.Documents(began), time.Since(began); float64(read) > 20*took.Seconds()+1 || s.Progress.Returned < 20 {
			t.Errorf("%d documents in %s", read, took)
		}
	})
}

func TestStoppedSurveyKeepsItsPartialResultAndIsRecorded(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 7, Documents: 1500}, kept, func(t *testing.T, r *fixture) {
		project := r.Keeper.Directory().All()[0].ID
		begin := func(q survey.Request) survey.Survey {
			t.Helper()
			s, err := r.engine.Start(t.Context(), q, entryByAnna())
			must.Do(t, err)
			refused.As(t, must.Err(r.engine.Start(t.Context(), q, entryByAnna())), fault.Conflict, "the same again")
			return s
		}
		s := begin(survey.Request{Kind: survey.Project, Project: project})
		second := begin(survey.Request{Kind: survey.Projects})
		time.Sleep(3 * time.Second)
		list := r.engine.List()
		if len(list) != 2 || list[0].State != survey.Queued || list[1].State != survey.Running || list[1].Progress.Done == 0 ||
			list[1].Progress.Left <= 0 {
			t.Fatalf("got surveys %+v, want the first queued and the second running with its time left", list)
		}
		must.Do(t, r.engine.Stop(t.Context(), second.ID, entryByBen()))
		must.Do(t, r.engine.Stop(t.Context(), s.ID, entryByBen()))
		ended, result := r.waitForEnd(t, s.ID)
		partial := slices.ContainsFunc(result.Collections, func(c survey.Collection) bool { return !c.Complete })
		if ended.State != survey.Stopped || len(result.Collections) == 0 || !partial {
			t.Errorf("got %+v, want a stopped survey with an incomplete collection", ended)
		}
		for _, c := range result.Collections {
			for _, l := range c.Projects {
				expect.That(t, c.Complete || !l.Rows.Exact && l.Rows.AtLeast, "the stopped survey reports exact rows: %+v", l.Rows)
			}
		}
		refused.As(t, r.engine.Stop(t.Context(), s.ID, entryByBen()), fault.Conflict, "stop again")
		r.Log.Take()
		time.Sleep(time.Minute)
		expect.Len(t, r.Log.All(), 0, "commands after the end")

		got, err := kept.AuditRecords(t.Context(), 0, 100)
		must.Do(t, err)
		want := []struct{ what, by, subject string }{{"survey.started", "user:1", s.ID}, {"survey.started", "user:1", second.ID},
			{"survey.stopped", "user:2", second.ID}, {"survey.stopped", "user:2", s.ID}}
		must.That(t, len(got) == len(want), "wrong number of audit records: %+v", got)
		for i, w := range want {
			if g := got[i]; g.What != w.what || g.By != w.by || g.Subject != w.subject || g.Outcome != "ok" || g.At.IsZero() || g.Cluster == "" {
				t.Errorf("%+v is recorded, want %+v", g, w)
			}
		}
		details := map[string]string{"kind": "project", "project": project.Hex(), "db": db}
		if got[0].Via != "password" || got[0].From != "192.0.2.1" || !maps.Equal(got[0].Details, details) {
			t.Errorf("details of the start: got %+v, want a password sign-in, kind, project and db", got[0])
		}
	})
}

func TestSurveyResumesAfterTheProcessDied(t *testing.T) {
	dir := t.TempDir()
	kept, reader := must.Get(sqlite.Open(t.Context(), dir)), must.Get(sqlite.Open(t.Context(), dir))
	defer func() { _, _ = kept.Close(), reader.Close() }()
	onSim(t, simcluster.Options{Projects: 7, Documents: 1500}, kept, func(t *testing.T, r *fixture) {
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		time.Sleep(4 * time.Second)
		r.end()
		first, _, err := r.engine.Survey(t.Context(), s.ID)
		must.Do(t, err)
		r.start(t, r.Client, survey.Options{Store: reader}) // a process that does not own the store
		time.Sleep(time.Minute)
		if got, _, err := r.engine.Survey(t.Context(), s.ID); err != nil || got.State != survey.Running {
			t.Errorf("got %+v, %v, want it left to the owner", got, err)
		}
		other := survey.Request{Kind: survey.Document, Document: bson.NewObjectID()}
		if _, err := r.engine.Start(t.Context(), other, entryByAnna()); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("got %v, want %v", err, store.ErrReadOnly)
		}
		r.start(t, r.Client, survey.Options{Store: kept})
		ended, result := r.waitForEnd(t, s.ID)
		for _, name := range []string{"documents", "clients"} {
			checkAgainstTruth(t, collectionOf(t, result, name), r.rowsByID(t, name, "project_id", deadRows[name]))
		}
		if first.Progress.Done == 0 || ended.State != survey.Done || ended.Progress.Returned > ended.Progress.Done+400+ended.Progress.Done/20 {
			t.Errorf("before the restart %+v, after it %+v: the survey did not resume", first, ended)
		}
		r.start(t, r.Client, survey.Options{Store: kept}) // results are kept across processes too
		time.Sleep(2 * time.Second)
		again, same, err := r.engine.Survey(t.Context(), s.ID)
		must.Do(t, err)
		if again.State != survey.Done || len(same.Collections) != len(result.Collections) {
			t.Errorf("after a restart: got %+v, want the same finished survey", again)
		}
		r.end() // before its store is closed
	})
}

func openStore(t *testing.T) *sqlite.DB {
	t.Helper()
	kept := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = kept.Close() })
	return kept
}
