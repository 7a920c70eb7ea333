package survey_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// restartWith replaces the engine by a new one that reads from another source.
func (r *fixture) restartWith(t *testing.T, src survey.Source) {
	r.end()
	r.source = src
	r.start(t, survey.Options{})
}

// forbiddenSource is a source that must not read one of the collections.
type forbiddenSource struct {
	survey.Source
	ns topology.Namespace
}

func (s forbiddenSource) SampleSizes(ctx context.Context, q survey.SizeQuery) ([]survey.SizedRow, error) {
	if q.NS == s.ns {
		return nil, s.refusal()
	}
	return s.Source.SampleSizes(ctx, q)
}

func (s forbiddenSource) RowSizes(ctx context.Context, q survey.SizeQuery, p *bson.ObjectID,
	from bson.ObjectID) ([]survey.SizedRow, error) {
	if q.NS == s.ns {
		return nil, s.refusal()
	}
	return s.Source.RowSizes(ctx, q, p, from)
}

func (s forbiddenSource) refusal() error {
	denied := &topology.DeniedError{Privilege: "find on " + string(s.ns), Err: errors.New("code 13")}
	return fault.Wrap(fault.Forbidden, denied, "The cluster user may not read it; it lacks %s.", denied.Privilege)
}

func TestForbiddenCollectionDoesNotStopTheOthers(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 50}, nil, func(t *testing.T, r *fixture) {
		r.restartWith(t, forbiddenSource{r.client, db + ".snapshots"})
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Sample})
		c := collectionOf(t, result, "snapshots")
		if s.State != survey.Done || c.Reason != "notPermitted" || !strings.Contains(c.Problem, "lacks find on "+db+".snapshots") ||
			len(c.Projects) != 0 {
			t.Errorf("%+v: %+v", s, c)
		}
		checkAgainstTruth(t, collectionOf(t, result, "changes"), r.rowsByID(t, "changes", "project_id", nil))
	})
}

func TestMissingFindPrivilegeIsNamed(t *testing.T) {
	users := []access.User{{Name: "monitor", Password: "pw", Roles: []string{"clusterMonitor"}}}
	onBareCluster(t, simcluster.Options{Projects: 3, Documents: 20, Users: users}, func(t *testing.T, sim *simcluster.Cluster) {
		uri := must.Get(cluster.ParseURI(strings.Replace(simcluster.URI(), "mongodb://", "mongodb://monitor:pw@", 1)))
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		must.Do(t, err)
		defer func() { _ = c.Close(context.Background()) }()
		q := survey.SizeQuery{NS: db + ".changes", Project: "project_id", Limit: 5}
		_, sample := c.SampleSizes(t.Context(), q)
		_, rows := c.RowSizes(t.Context(), q, nil, bson.ObjectID{})
		_, document := c.DocumentSize(t.Context(), survey.DocumentSizeQuery{NS: q.NS, Document: "doc_id", Limit: 5})
		_, existing := c.Existing(t.Context(), q.NS, "project_id", nil, []bson.ObjectID{{1}})
		for _, err := range []error{sample, rows, document, existing} {
			var denied *topology.DeniedError
			if !errors.As(err, &denied) || denied.Privilege != "find on "+db+".changes" {
				t.Errorf("got %v, want the missing privilege find on %s.changes", err, db)
			}
		}
	})
}

// slowSource is a source that can be delayed.
type slowSource struct {
	survey.Source
	takes atomic.Int64
}

func (s *slowSource) RowSizes(ctx context.Context, q survey.SizeQuery, p *bson.ObjectID, from bson.ObjectID) ([]survey.SizedRow, error) {
	time.Sleep(time.Duration(s.takes.Load()))
	return s.Source.RowSizes(ctx, q, p, from)
}

func TestSurveySlowsDownWhileTheClusterIsSlow(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 6, Documents: 6000}, nil, func(t *testing.T, r *fixture) {
		src := &slowSource{Source: r.client}
		src.takes.Store(int64(10 * time.Millisecond))
		r.restartWith(t, src)
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		progress := func() survey.Progress { return r.engine.List()[0].Progress }
		time.Sleep(5 * time.Second)
		usual := progress()
		if usual.PacedDown || usual.Done < 500 {
			t.Fatalf("got %+v, want PacedDown false, Done at least 500", usual)
		}
		src.takes.Store(int64(2 * time.Second))
		time.Sleep(30 * time.Second)
		before := progress()
		time.Sleep(60 * time.Second)
		after := progress()
		if !after.PacedDown || after.Done-before.Done > 1000 {
			t.Errorf("did not slow down: before %+v, after %+v", before, after)
		}
		src.takes.Store(0)
		time.Sleep(40 * time.Second)
		if p := progress(); p.PacedDown || p.Done-after.Done < 500 {
			t.Errorf("did not speed up again with the cluster: %+v, was %+v", p, after)
		}
		must.Do(t, r.engine.Stop(t.Context(), s.ID, entryByBen()))
		r.waitForEnd(t, s.ID)
	})
}

func TestOrphansAreCountedSeparately(t *testing.T) {
	for _, release := range []string{"5.0", "6.0"} { // 5.0 does not report orphans
		o := simcluster.Options{Projects: 6, Documents: 900, ServerVersion: release}
		onSim(t, o, nil, func(t *testing.T, r *fixture) {
			ns := topology.Namespace(db + ".changes")
			before := r.rowsByID(t, "changes", "project_id", nil)
			c := r.watcher.Table().Collection(ns)
			chunk := c.Chunks.At(0)
			to := "shard-rs-1"
			if chunk.Shard == to {
				to = "shard-rs-2"
			}
			lower := must.Get(c.Key.Document(chunk.Min))
			upper := must.Get(c.Key.Document(chunk.Max))
			must.Do(t, r.client.MoveChunk(t.Context(), "", topology.Move{NS: ns, Min: lower, Max: upper, To: to}))
			time.Sleep(70 * time.Second) // until statistics are read again; orphans stay for 15 minutes
			var all, stored int64
			for _, w := range before {
				all += w.rows
			}
			for _, s := range r.watcher.Table().Sizes[ns].Shards {
				if stored += s.Documents.Value; s.Orphans.Known {
					stored += s.Orphans.Value
				}
			}
			s, result := r.runSurvey(t, survey.Request{Kind: survey.Sample, NS: ns, Precision: 0.1})
			found := collectionOf(t, result, "changes")
			if s.State != survey.Done || found.Method != survey.MethodSample || !found.Orphans.Known || stored == all ||
				found.Orphans.Value != stored-all {
				t.Fatalf("%s: %+v: %+v; %d rows, %d stored", release, s, found.Orphans, all, stored)
			}
			if found.Rows.Value != all {
				t.Errorf("%s: %d rows in all, truth %d, %d orphans", release, found.Rows.Value, all, found.Orphans.Value)
			}
			for _, l := range found.Projects { // one interval in twenty may miss the truth, but not by far
				width := l.Rows.High - l.Rows.Low
				if want := before[l.Project].rows; want < l.Rows.Low-width || want > l.Rows.High+width {
					t.Errorf("%s: %d rows of a project, measured %d to %d", release, want, l.Rows.Low, l.Rows.High)
				}
			}
		})
	}
}

func TestRevisionsOfDeletedDocumentsAreCountedAsDead(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 60}, nil, func(t *testing.T, r *fixture) {
		id := r.keeper.Directory().All()[1].ID
		for range 3 {
			_, err := r.sim.Command(t.Context(), db, bson.D{{Key: "insert", Value: "revisions"}, {Key: "documents", Value: bson.A{
				bson.D{
					{Key: "_id", Value: bson.NewObjectID()},
					{Key: "project_id", Value: id},
					{Key: "doc_id", Value: bson.NewObjectID()},
					{Key: "snapshot", Value: "x"},
				}}}})
			must.Do(t, err)
		}
		_, result := r.runSurvey(t, survey.Request{Kind: survey.Sample, NS: db + ".revisions"})
		c := collectionOf(t, result, "revisions")
		for _, l := range c.Projects {
			want := int64(0)
			if l.Project == id {
				want = 3
			}
			if l.Dead == nil || l.Dead.Rows.Value != want {
				t.Errorf("%s: %+v, want %d", l.Project.Hex(), l.Dead, want)
			}
		}
		if c.Checked < 3 {
			t.Errorf("%d documents were looked for, want at least 3", c.Checked)
		}
	})
}

func TestUnshardedCollectionsAreMeasuredOnTheirPrimary(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true}, nil, func(t *testing.T, r *fixture) {
		if _, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna()); fault.Of(err) != fault.NotFound {
			t.Errorf("nothing of a profile is there: %v", err)
		}
		project, doc := bson.NewObjectID(), bson.NewObjectID()
		insert := func(coll string, rows ...bson.D) {
			_, err := r.sim.Command(t.Context(), "own", bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: rows}})
			must.Do(t, err)
		}
		insert("projects", bson.D{{Key: "_id", Value: project}, {Key: "name", Value: "one"}})
		insert(
			"documents",
			bson.D{{Key: "_id", Value: doc}, {Key: "project_id", Value: project}, {Key: "key", Value: "k"}, {Key: "removed_at", Value: time.Now()}},
		)
		insert("changes", bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: project}, {Key: "doc_id", Value: doc}})
		time.Sleep(3 * time.Minute)
		_, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		l := collectionOf(t, result, "documents").Projects[0]
		if l.Rows.Value != 1 || l.Dead.Rows.Value != 1 || l.Shards[0].Shard != r.watcher.Table().Primary("own") {
			t.Errorf("got %+v, want one row, dead, on the primary of own", l)
		}
		_, result = r.runSurvey(t, survey.Request{Kind: survey.Sample})
		if l := collectionOf(t, result, "changes").Projects[0]; l.Project != project || l.Rows.Value != 1 || !l.Rows.Exact {
			t.Errorf("got %+v, want Project %v, Rows.Value 1, Rows.Exact true", l, project)
		}
	})
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 2, Documents: 5}, nil, func(t *testing.T, r *fixture) {
		for _, c := range []struct {
			q    survey.Request
			want fault.Kind
		}{
			{survey.Request{Kind: "all"}, fault.Invalid},
			{survey.Request{Kind: survey.Document}, fault.Invalid},
			{survey.Request{Kind: survey.Sample, Precision: 0.0001}, fault.Invalid},
			{survey.Request{Kind: survey.Sample, NS: "config.chunks"}, fault.NotFound},
			{survey.Request{Kind: survey.Sample, DB: "admin"}, fault.NotFound},
			{survey.Request{Kind: survey.Project, Project: bson.NewObjectID()}, fault.NotFound},
		} {
			if _, err := r.engine.Start(t.Context(), c.q, entryByAnna()); err == nil || fault.Of(err) != c.want {
				t.Errorf("%+v: %v, want kind %v", c.q, err, c.want)
			}
		}
		if err := r.engine.Stop(t.Context(), "none", entryByBen()); fault.Of(err) != fault.NotFound {
			t.Errorf("got %v, want kind %v", err, fault.NotFound)
		}
	})
}
