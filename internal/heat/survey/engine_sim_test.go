package survey_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// returnedCounter counts the documents that the cluster returns to the driver.
type returnedCounter struct {
	mu        sync.Mutex
	documents int
}

func (p *returnedCounter) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		if e.DatabaseName != db {
			return // reads of the tables are not part of the survey
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, name := range []string{"firstBatch", "nextBatch"} {
			if list, ok := e.Reply.Lookup("cursor", name).ArrayOK(); ok {
				rows, _ := list.Values()
				p.documents += len(rows)
			}
		}
	}}
}

func (p *returnedCounter) returned() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.documents
}

// fixture is a survey engine on a simulated cluster in a synctest bubble.
type fixture struct {
	sim     *simcluster.Cluster
	client  *cluster.Client
	watcher *topology.Watcher
	keeper  *placement.Keeper
	engine  *survey.Engine
	source  survey.Source // used by the next engine that starts
	tap     returnedCounter
	end     func() // stops Run and waits for its return
}

func onSim(t *testing.T, o simcluster.Options, st store.Surveys, test func(t *testing.T, r *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Still = true
		sim, err := simcluster.New(t.Context(), o)
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		r := &fixture{sim: sim}
		r.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: r.tap.monitor()})
		must.Do(t, err)
		defer func() { _ = r.client.Close(context.Background()) }()
		r.watcher = topology.NewWatcher(r.client, topology.Options{})
		r.keeper = placement.NewKeeper(r.client, r.watcher, profile.Yorkie(), slog.New(slog.DiscardHandler))
		r.source = r.client
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = r.watcher.Run(ctx) })
		all.Go(func() { _ = r.keeper.Run(ctx) })
		defer func() { cancel(); all.Wait() }()
		time.Sleep(70 * time.Second) // until the sizes of all collections are read
		r.start(t, survey.Options{Store: st})
		defer func() { r.end() }()
		test(t, r)
	})
}

// start creates and runs an engine, as a new process does.
func (r *fixture) start(t *testing.T, o survey.Options) {
	r.engine = survey.New(r.source, r.watcher, r.keeper, profile.Yorkie(), o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.engine.Run(ctx) }()
	var once sync.Once
	r.end = func() { once.Do(func() { cancel(); must.Do(t, <-done) }) }
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

// rowsByID reads every row of a collection directly from the simulator and sums the
// rows by an id.
func (r *fixture) rowsByID(t *testing.T, coll, field string, dead func(bson.Raw) bool) map[bson.ObjectID]rowTotals {
	t.Helper()
	out := map[bson.ObjectID]rowTotals{}
	reply, err := r.sim.Command(t.Context(), db, bson.D{{Key: "find", Value: coll}, {Key: "batchSize", Value: 1 << 30}})
	must.Do(t, err)
	for {
		list, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
		if !ok {
			list = reply.Lookup("cursor", "nextBatch").Array()
		}
		rows, err := list.Values()
		must.Do(t, err)
		for _, v := range rows {
			doc := v.Document()
			id := doc.Lookup(field).ObjectID()
			w := out[id]
			w.rows++
			w.bytes += int64(len(doc))
			if dead != nil && dead(doc) {
				w.dead++
			}
			out[id] = w
		}
		cursor := reply.Lookup("cursor", "id").Int64()
		if cursor == 0 {
			return out
		}
		reply, err = r.sim.Command(t.Context(), db, bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: coll}})
		must.Do(t, err)
	}
}

func isRemoved(d bson.Raw) bool { _, err := d.LookupErr("removed_at"); return err == nil }
func isDeactivated(d bson.Raw) bool {
	return d.Lookup("status").StringValue() == "deactivated"
}

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
			if s.Shard == "" {
				t.Errorf("%s: a line has no shards", c.NS)
			}
		}
		if parts != want.rows {
			t.Errorf("%s: the shards have %d of %d rows", c.NS, parts, want.rows)
		}
	}
	for id, want := range truth {
		if !seen[id] {
			t.Errorf("%s: project %s with %d rows is missing", c.NS, id.Hex(), want.rows)
		}
	}
}

func TestProjectWideCollectionsAreCountedExactlyWithinTheBudget(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 900}, nil, func(t *testing.T, r *fixture) {
		before, began := r.tap.returned(), time.Now()
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		if s.State != survey.Done || s.Progress.Done == 0 || s.Progress.Done != s.Progress.Total || s.By != "user:1" {
			t.Fatalf(`got %+v, want State %v, Progress.Done more than 0, Progress.Done %v, By "user:1"`, s, survey.Done, s.Progress.Total)
		}
		took, read := time.Since(began), r.tap.returned()-before
		if limit := int(took.Seconds()*heat.PerSecond) + 1; read > limit || int64(read) < s.Progress.Done {
			t.Errorf("%d documents were returned in %s", read, took)
		}
		if s.Progress.Returned > int64(read) {
			t.Errorf("the survey reports %d returned documents, %d were returned", s.Progress.Returned, read)
		}
		checkAgainstTruth(t, collectionOf(t, result, "documents"), r.rowsByID(t, "documents", "project_id", isRemoved))
		checkAgainstTruth(t, collectionOf(t, result, "clients"), r.rowsByID(t, "clients", "project_id", isDeactivated))
		checkAgainstTruth(t, collectionOf(t, result, "schemas"), r.rowsByID(t, "schemas", "project_id", nil))
	})
}

func TestSmallProjectIsCountedInEveryCollection(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 120}, nil, func(t *testing.T, r *fixture) {
		id := r.keeper.Directory().All()[2].ID
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Project, Project: id})
		if s.State != survey.Done {
			t.Fatalf("got %+v, want State %v", s, survey.Done)
		}
		for _, name := range []string{"documents", "clients", "schemas", "changes", "snapshots", "versionvectors", "snapshot_bodies"} {
			all := r.rowsByID(t, name, "project_id", map[string]func(bson.Raw) bool{"documents": isRemoved, "clients": isDeactivated}[name])
			want := map[bson.ObjectID]rowTotals{}
			if w, ok := all[id]; ok {
				want[id] = w
			}
			checkAgainstTruth(t, collectionOf(t, result, name), want)
		}
		found := r.engine.Findings(db, id)
		if len(found) < 7 || found[0].Line == nil {
			t.Errorf("%d findings", len(found))
		}
	})
}

func TestOneDocumentIsCountedOnItsShards(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 100}, nil, func(t *testing.T, r *fixture) {
		truth := r.rowsByID(t, "changes", "doc_id", nil)
		for id, want := range truth {
			s, result := r.runSurvey(t, survey.Request{Kind: survey.Document, Document: id})
			c := collectionOf(t, result, "changes")
			if s.State != survey.Done || len(c.Documents) != 1 {
				t.Fatalf("got %+v %+v, want s.State %v, len(c.Documents) 1", s, c, survey.Done)
			}
			l := c.Documents[0]
			if l.Rows.Value != want.rows || l.Bytes.Value != want.bytes || !l.Rows.Exact || len(l.Shards) != 1 || l.Shards[0].Shard == "" {
				t.Errorf("%+v, truth %+v", l, want)
			}
			if b := collectionOf(t, result, "snapshot_bodies"); b.Reason != "" || !b.Complete { // not sharded
				t.Errorf("got %+v, want Reason empty, Complete true", b)
			}
			return
		}
	})
}

func TestSmallCollectionIsReadFullyInsteadOfSampled(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 6, Documents: 60}, nil, func(t *testing.T, r *fixture) {
		_, result := r.runSurvey(t, survey.Request{Kind: survey.Sample})
		for _, name := range []string{"versionvectors", "snapshots"} {
			checkAgainstTruth(t, collectionOf(t, result, name), r.rowsByID(t, name, "project_id", nil))
		}
	})
}

func TestSampleIntervalsContainTheTruth(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 1500}, nil, func(t *testing.T, r *fixture) {
		before, began := r.tap.returned(), time.Now()
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Sample, NS: db + ".changes", Precision: 0.05})
		c := collectionOf(t, result, "changes")
		if s.State != survey.Done || c.Method != survey.MethodSample {
			t.Fatalf("%+v: %+v, want s.State %v, c.Method %v", s, c, survey.Done, survey.MethodSample)
		}
		if read, took := r.tap.returned()-before, time.Since(began); float64(read) > took.Seconds()*heat.PerSecond+1 || read < 700 {
			t.Errorf("%d documents in %s", read, took)
		}
		truth := r.rowsByID(t, "changes", "project_id", nil)
		missed := 0
		for _, l := range c.Projects {
			want := truth[l.Project]
			if want.rows < l.Rows.Low || want.rows > l.Rows.High || want.bytes < l.Bytes.Low || want.bytes > l.Bytes.High {
				missed++
			}
		}
		if missed > 3 || len(c.Projects) < 5 {
			t.Errorf("%d of %d projects are outside their intervals", missed, len(c.Projects))
		}
		for i, l := range c.Projects {
			if l.Rows.Exact || l.Rows.High <= l.Rows.Low {
				t.Errorf("line %d: %+v, want l.Rows.Exact false, l.Rows.High more than %v", i, l.Rows, l.Rows.Low)
			}
		}
	})
}

func TestIntervalsOfAHundredSamplesContainTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred surveys")
	}
	onSim(t, simcluster.Options{Projects: 12, Documents: 1500}, nil, func(t *testing.T, r *fixture) {
		truth := r.rowsByID(t, "changes", "project_id", nil)
		inside, figures := 0, 0
		in := func(e survey.Estimate, v int64) {
			if figures++; e.Low <= v && v <= e.High {
				inside++
			}
		}
		for range 100 {
			_, result := r.runSurvey(t, survey.Request{Kind: survey.Sample, NS: db + ".changes", Precision: 0.05})
			c := collectionOf(t, result, "changes")
			for id, want := range truth {
				w := *c.Unseen
				for _, l := range c.Projects {
					if l.Project == id {
						w = l.Weight
					}
				}
				in(w.Rows, want.rows)
				in(w.Bytes, want.bytes)
			}
		}
		if inside < figures*93/100 {
			t.Errorf("%d of %d figures are inside, want at least %v", inside, figures, figures*93/100)
		}
		t.Logf("%d of %d figures are inside", inside, figures)
	})
}

func TestSurveyNeverReadsMoreThanTheSharedBudget(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 1500}, nil, func(t *testing.T, r *fixture) {
		r.end()
		budget := heat.NewBudget(20, nil)
		budget.Hold(budget.Burst()) // another reader has used up the saved budget
		r.start(t, survey.Options{Budget: budget})
		before, began := r.tap.returned(), time.Now()
		s, _ := r.runSurvey(t, survey.Request{Kind: survey.Project, Project: r.keeper.Directory().All()[0].ID})
		read, took := r.tap.returned()-before, time.Since(began)
		if float64(read) > 20*took.Seconds()+7*took.Minutes()+14 || s.Progress.Returned < 20 { // the list of seven projects is read beside it
			t.Errorf("%d documents in %s", read, took)
		}
	})
}

func TestStoppedSurveyKeepsItsPartialResult(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 7, Documents: 3000}, nil, func(t *testing.T, r *fixture) {
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		if _, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna()); fault.Of(err) != fault.Conflict {
			t.Errorf("the same again: %v, want kind %v", err, fault.Conflict)
		}
		second, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna())
		must.Do(t, err)
		time.Sleep(5 * time.Second)
		list := r.engine.List()
		if len(list) != 2 || list[0].State != survey.Queued || list[1].State != survey.Running || list[1].Progress.Done == 0 ||
			list[1].Progress.Left <= 0 {
			t.Fatalf("got surveys %+v, want the first queued and the second running with its time left", list)
		}
		must.Do(t, r.engine.Stop(t.Context(), second.ID, entryByBen()))
		must.Do(t, r.engine.Stop(t.Context(), s.ID, entryByBen()))
		ended, result := r.waitForEnd(t, s.ID)
		if ended.State != survey.Stopped || len(result.Collections) == 0 || result.Collections[0].Complete {
			t.Errorf("got %+v, want a stopped survey with an incomplete collection", ended)
		}
		for _, l := range result.Collections[0].Projects {
			if l.Rows.Exact || !l.Rows.AtLeast {
				t.Errorf("the stopped survey reports exact rows: %+v", l.Rows)
			}
		}
		if err := r.engine.Stop(t.Context(), s.ID, entryByBen()); fault.Of(err) != fault.Conflict {
			t.Errorf("stop again: %v, want kind %v", err, fault.Conflict)
		}
		count := r.tap.returned()
		time.Sleep(time.Minute)
		if more := r.tap.returned() - count; more > 60 { // includes another read of the project list
			t.Errorf("%d documents after the end, want at most 60", more)
		}
	})
}

// auditRecords returns the audit log entries with action, user and subject.
func auditRecords(t *testing.T, db *sqlite.DB) (out []store.AuditRecord) {
	t.Helper()
	rows, err := db.AuditRecords(t.Context(), 0, 100)
	must.Do(t, err)
	return rows
}

func TestWhoStartsAndStopsASurveyIsRecorded(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 7, Documents: 3000}, kept, func(t *testing.T, r *fixture) {
		project := r.keeper.Directory().All()[0].ID
		running, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Project, Project: project}, entryByAnna())
		must.Do(t, err)
		waiting, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna())
		must.Do(t, err)
		if _, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna()); fault.Of(err) != fault.Conflict {
			t.Fatalf("got %v, want kind %v", err, fault.Conflict)
		}
		time.Sleep(time.Second)
		must.Do(t, r.engine.Stop(t.Context(), waiting.ID, entryByBen()))
		for range 2 { // a repeated stop must not be recorded again
			if err := r.engine.Stop(t.Context(), running.ID, entryByBen()); err != nil && fault.Of(err) != fault.Conflict {
				t.Fatal(err)
			}
		}
		if ended, _ := r.waitForEnd(t, running.ID); ended.State != survey.Stopped {
			t.Fatalf("got %+v, want State %v", ended, survey.Stopped)
		}
		got := auditRecords(t, kept)
		want := []struct{ what, by, subject string }{
			{
				"survey.started",
				"user:1",
				running.ID,
			}, {"survey.started", "user:1", waiting.ID}, {"survey.stopped", "user:2", waiting.ID}, {"survey.stopped", "user:2", running.ID}}
		if len(got) != len(want) {
			t.Fatalf("wrong number of audit records: %+v", got)
		}
		for i, w := range want {
			if g := got[i]; g.What != w.what || g.By != w.by || g.Subject != w.subject || g.Outcome != "ok" || g.At.IsZero() || g.Cluster == "" {
				t.Errorf("%+v is recorded, want %+v", g, w)
			}
		}
		if d := got[0].Details; got[0].Via != "password" || got[0].From != "192.0.2.1" || d["kind"] != "project" ||
			d["project"] != project.Hex() ||
			d["db"] != "yorkie-meta" ||
			len(d) != 3 {
			t.Errorf("details of the start: got %+v, want a password sign-in, kind, project and db", got[0])
		}
	})
}

func TestSurveyResumesAfterTheProcessDied(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 7, Documents: 1500}, kept, func(t *testing.T, r *fixture) {
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		time.Sleep(4 * time.Second)
		r.end()
		first, _, err := r.engine.Survey(t.Context(), s.ID)
		must.Do(t, err)
		r.start(t, survey.Options{Store: kept})
		ended, result := r.waitForEnd(t, s.ID)
		truth := r.rowsByID(t, "documents", "project_id", isRemoved)
		checkAgainstTruth(t, collectionOf(t, result, "documents"), truth)
		checkAgainstTruth(t, collectionOf(t, result, "clients"), r.rowsByID(t, "clients", "project_id", isDeactivated))
		if first.Progress.Done == 0 || ended.State != survey.Done || ended.Progress.Returned > ended.Progress.Done+400+ended.Progress.Done/20 {
			t.Errorf("before the restart %+v, after it %+v: the survey did not resume", first, ended)
		}
		r.end()
		r.start(t, survey.Options{Store: kept}) // results are kept across processes too
		time.Sleep(2 * time.Second)
		again, same, err := r.engine.Survey(t.Context(), s.ID)
		must.Do(t, err)
		if again.State != survey.Done || len(same.Collections) != len(result.Collections) {
			t.Errorf("after a restart: got %+v, want the same finished survey", again)
		}
	})
}

func TestProcessWithAReadOnlyStoreLeavesSurveysToTheOwner(t *testing.T) {
	dir := t.TempDir()
	owner := must.Get(sqlite.Open(t.Context(), dir))
	defer func() { _ = owner.Close() }()
	reader := must.Get(sqlite.Open(t.Context(), dir))
	defer func() { _ = reader.Close() }()
	onSim(t, simcluster.Options{Projects: 5, Documents: 800}, owner, func(t *testing.T, r *fixture) {
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		time.Sleep(3 * time.Second)
		r.end()
		r.start(t, survey.Options{Store: reader})
		time.Sleep(time.Minute)
		if got, _, err := r.engine.Survey(t.Context(), s.ID); err != nil || got.State != survey.Running {
			t.Errorf("got %+v, %v, want State %v", got, err, survey.Running)
		}
		if _, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna()); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("got %v, want %v", err, store.ErrReadOnly)
		}
	})
}

func openStore(t *testing.T) *sqlite.DB {
	t.Helper()
	kept := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = kept.Close() })
	return kept
}

// onBareCluster runs a test on a simulated cluster without an engine.
func onBareCluster(t *testing.T, o simcluster.Options, test func(t *testing.T, sim *simcluster.Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Still = true
		sim, err := simcluster.New(t.Context(), o)
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		test(t, sim)
	})
}
