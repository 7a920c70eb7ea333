package survey_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// brokenSource is a source that may not read one of the collections, is slow, or panics.
type brokenSource struct {
	survey.Source
	denied topology.Namespace
	panics bool
	takes  atomic.Int64
}

func (s *brokenSource) fail(ns topology.Namespace) error {
	time.Sleep(time.Duration(s.takes.Load()))
	if s.panics {
		panic("defect")
	}
	if ns != s.denied {
		return nil
	}
	denied := &topology.DeniedError{Privilege: "find on " + string(ns), Err: errors.New("code 13")}
	return fault.Wrap(fault.Forbidden, denied, "The cluster user may not read it; it lacks %s.", denied.Privilege)
}

func (s *brokenSource) RowSizes(ctx context.Context, q survey.SizeQuery, p *bson.RawValue,
	from survey.Position) ([]survey.SizedRow, error) {
	if err := s.fail(q.NS); err != nil {
		return nil, err
	}
	return s.Source.RowSizes(ctx, q, p, from)
}

func TestForbiddenCollectionOrPanicDoesNotStopOtherWork(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 50}, nil, func(t *testing.T, r *fixture) {
		r.start(t, &brokenSource{Source: r.Client, denied: db + ".clients"}, survey.Options{})
		s, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		c := collectionOf(t, result, "clients")
		if s.State != survey.Done || c.Reason != "notPermitted" || !strings.Contains(c.Problem, "lacks find on "+db+".clients") ||
			len(c.Projects) != 0 {
			t.Errorf("%+v: %+v", s, c)
		}
		checkAgainstTruth(t, collectionOf(t, result, "documents"), r.rowsByID(t, "documents", "project_id", isRemoved))

		r.start(t, &brokenSource{Source: r.Client, panics: true}, survey.Options{})
		if s, _ = r.runSurvey(t, survey.Request{Kind: survey.Projects}); s.State != survey.Failed || s.Problem == "" {
			t.Errorf("got %+v, want a failed survey with its problem", s)
		}
		if s, _ = r.runSurvey(t, survey.Request{Kind: survey.Document, Document: bson.NewObjectID()}); s.State != survey.Done {
			t.Errorf("the next one: %+v, want it done", s)
		}
	})
}

func TestMissingFindPrivilegeIsNamed(t *testing.T) {
	o := simcluster.Options{Projects: 3, Documents: 20,
		Users: []access.User{{Name: "monitor", Password: "pw", Roles: []string{"clusterMonitor"}}}}
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), o))
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(strings.Replace(simcluster.URI(), "mongodb://", "mongodb://monitor:pw@", 1)))
		c := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim}))
		defer func() { _ = c.Close(context.Background()) }()
		q := survey.SizeQuery{NS: db + ".changes", Project: "project_id", Limit: 5}
		_, sample := c.SampleSizes(t.Context(), q)
		_, rows := c.RowSizes(t.Context(), q, nil, survey.Position{})
		_, document := c.DocumentSize(t.Context(), survey.DocumentSizeQuery{NS: q.NS, Document: "doc_id",
			ID: placement.ObjectIDValue(bson.ObjectID{}), Limit: 5})
		for _, err := range []error{sample, rows, document} {
			var denied *topology.DeniedError
			if !errors.As(err, &denied) || denied.Privilege != "find on "+db+".changes" {
				t.Errorf("got %v, want the missing privilege find on %s.changes", err, db)
			}
		}
	})
}

func TestSurveySlowsDownWhileTheClusterIsSlow(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 6, Documents: 6000}, nil, func(t *testing.T, r *fixture) {
		src := &brokenSource{Source: r.Client}
		src.takes.Store(int64(10 * time.Millisecond))
		r.start(t, src, survey.Options{})
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		progress := func() survey.Progress { return r.engine.List()[0].Progress }
		time.Sleep(5 * time.Second)
		usual := progress()
		must.That(t, !usual.PacedDown && usual.Done >= 500, "got %+v, want PacedDown false, Done at least 500", usual)
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
			ns := topology.Namespace(db + ".documents")
			before := r.rowsByID(t, "documents", "project_id", isRemoved)
			r.MoveFirst(t, ns)
			time.Sleep(70 * time.Second) // until statistics are read again; orphans stay for 15 minutes
			var all, stored int64
			for _, w := range before {
				all += w.rows
			}
			for _, s := range r.Watcher.Table().Sizes[ns].Shards {
				if stored += s.Documents.Value; s.Orphans.Known {
					stored += s.Orphans.Value
				}
			}
			s, result := r.runSurvey(t, survey.Request{Kind: survey.Projects, NS: ns})
			found := collectionOf(t, result, "documents")
			if s.State != survey.Done || !found.Orphans.Known || stored == all ||
				found.Orphans.Value != stored-all {
				t.Fatalf("%s: %+v: %+v; %d rows, %d stored", release, s, found.Orphans, all, stored)
			}
			if found.Rows.Value != all {
				t.Errorf("%s: %d rows in all, truth %d, %d orphans", release, found.Rows.Value, all, found.Orphans.Value)
			}
			checkAgainstTruth(t, found, before)
		})
	}
}

func TestUnshardedCollectionsAreMeasuredOnTheirPrimary(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true}, nil, func(t *testing.T, r *fixture) {
		if _, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna()); fault.Of(err) != fault.NotFound {
			t.Errorf("nothing of a profile is there: %v", err)
		}
		project, doc := bson.NewObjectID(), bson.NewObjectID()
		r.Insert(t, "own.projects", bson.D{{Key: "_id", Value: project}, {Key: "name", Value: "one"}})
		r.Insert(t, "own.documents", bson.D{{Key: "_id", Value: doc}, {Key: "project_id", Value: project}, {Key: "key", Value: "k"},
			{Key: "removed_at", Value: time.Now()}})
		r.Insert(t, "own.changes", bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: project},
			{Key: "doc_id", Value: doc}})
		time.Sleep(3 * time.Minute)
		_, result := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		l := collectionOf(t, result, "documents").Projects[0]
		if l.Rows.Value != 1 || l.Dead.Rows.Value != 1 || l.Shards[0].Shard != r.Watcher.Table().Primary("own") {
			t.Errorf("got %+v, want one row, dead, on the primary of own", l)
		}
		_, result = r.runSurvey(t, survey.Request{Kind: survey.Project, Project: project})
		if l := collectionOf(t, result, "changes").Documents[0]; l.Document != doc || l.Rows.Value != 1 || !l.Rows.Exact {
			t.Errorf("got %+v, want Document %v, Rows.Value 1, Rows.Exact true", l, doc)
		}
	})
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 2, Documents: 5}, nil, func(t *testing.T, r *fixture) {
		id := bson.NewObjectID()
		for want, requests := range map[fault.Kind][]survey.Request{
			fault.Invalid: {{Kind: "all"}, {Kind: survey.Document}, {Kind: survey.Sample}, {Kind: survey.Projects, Project: id},
				{Kind: survey.Project, Project: r.Keeper.Directory().All()[0].ID, Document: id}},
			fault.NotFound: {{Kind: survey.Projects, NS: "config.chunks"}, {Kind: survey.Projects, DB: "admin"},
				{Kind: survey.Project, Project: id}},
		} {
			for _, q := range requests {
				if _, err := r.engine.Start(t.Context(), q, entryByAnna()); err == nil || fault.Of(err) != want {
					t.Errorf("%+v: %v, want kind %v", q, err, want)
				}
			}
		}
		refused.As(t, r.engine.Stop(t.Context(), "none", entryByBen()), fault.NotFound, "Stop")
	})
}
