package holdings_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

func TestFiguresMoveWithAChunk(t *testing.T) {
	for _, release := range []string{"5.0", "7.0"} { // 5.0 does not report the orphans that a move leaves
		o := simcluster.Options{Projects: 12, Documents: 9000, ServerVersion: release}
		onSim(t, o, holdings.Options{}, func(t *testing.T, r *fixture) {
			time.Sleep(20 * time.Minute)
			for _, name := range []string{"clients", "changes"} { // one by project, one by hash
				ns := topology.Namespace(db + "." + name)
				c := r.watcher.Table().Collection(ns)
				chunk := c.Chunks.At(0)
				to := "shard-rs-1"
				if chunk.Shard == to {
					to = "shard-rs-2"
				}
				lower, err := c.Key.Document(chunk.Min)
				must(t, err)
				upper, err := c.Key.Document(chunk.Max)
				must(t, err)
				must(t, r.client.MoveChunk(t.Context(), "", topology.Move{NS: ns, Min: lower, Max: upper, To: to}))
			}
			time.Sleep(75 * time.Second) // until the statistics are read again; orphans stay for 15 minutes
			s := r.snapshot()
			truth := r.truth(t, measured...)
			cells, outside, marked := 0, 0, 0
			for _, p := range s.Projects {
				for _, f := range s.Project(p.DB, p.ID) {
					want := truth[place{p.ID, f.Shard}]
					if cells++; want.rows < f.Rows.Low || want.rows > f.Rows.High {
						outside++
						t.Logf("%s: %s on %s: %+v, truth %+v", release, p.ID.Hex(), f.Shard, f.Rows, want)
					}
					if f.Moved {
						marked++
					}
				}
			}
			if outside > cells/10 || marked == 0 || marked == cells {
				t.Errorf("%s: %d of %d figures are outside their intervals after a move; %d are marked", release, outside, cells, marked)
			}
		})
	}
}

func openStore(t *testing.T, dir string) *sqlite.DB {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "data"))
	must(t, err)
	return s
}

func TestFiguresSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	st := openStore(t, dir)
	onSim(t, simcluster.Options{Projects: 12, Documents: 9000}, holdings.Options{Store: st}, func(t *testing.T, r *fixture) {
		time.Sleep(10 * time.Minute)
		r.end()
		before := r.snapshot()
		must(t, st.Close())
		again := openStore(t, dir)
		defer func() { _ = again.Close() }()
		begun := time.Now()
		r.start(t, r.client, holdings.Options{Store: again})
		time.Sleep(100 * time.Millisecond)
		after := r.snapshot()
		if read := r.reads.since(begun); read > 200 {
			t.Errorf("%d documents were read before the figures were there", read)
		}
		if len(before.Projects) < 5 || len(after.Projects) < len(before.Projects) {
			t.Fatalf("%d projects after the restart, %d before", len(after.Projects), len(before.Projects))
		}
		for i, c := range after.Collections {
			if was := before.Collections[i]; c.Oldest.After(was.At) || c.Method != was.Method || c.Read < was.Read {
				t.Errorf("got %+v after the restart, want at least %+v", c, was)
			}
		}
	})
}

func TestDamagedStoredSampleIsMeasuredAgain(t *testing.T) {
	st := openStore(t, t.TempDir())
	defer func() { _ = st.Close() }()
	onSim(t, simcluster.Options{Projects: 4, Documents: 100}, holdings.Options{Store: st}, func(t *testing.T, r *fixture) {
		time.Sleep(2 * time.Minute)
		r.end()
		cluster := r.watcher.Table().ClusterID
		must(t, st.SaveHolding(t.Context(), cluster, store.Holding{NS: db + ".changes", At: time.Now(), Body: []byte("damaged")}))
		must(t, st.SaveHolding(t.Context(), cluster, store.Holding{NS: db + ".dropped", At: time.Now(), Body: []byte("old")}))
		r.start(t, r.client, holdings.Options{Store: st})
		time.Sleep(2 * time.Minute)
		if c := r.collection(t, "changes"); !c.Measured() || c.Reason != "" {
			t.Errorf("got %+v, want figures", c)
		}
		left, err := st.LoadHoldings(t.Context(), cluster)
		must(t, err)
		for _, h := range left {
			if h.NS == db+".dropped" {
				t.Error("the sample of a collection that does not exist any more is still stored")
			}
		}
	})
}

// otherOwner is a store that another process owns.
type otherOwner struct{ store.Holdings }

func (otherOwner) Leads() bool { return false }

func TestStandbyShowsStoredFiguresAndReadsNothing(t *testing.T) {
	st := openStore(t, t.TempDir())
	defer func() { _ = st.Close() }()
	onSim(t, simcluster.Options{Projects: 4, Documents: 100}, holdings.Options{Store: st}, func(t *testing.T, r *fixture) {
		time.Sleep(6 * time.Minute)
		r.end()
		begun := time.Now()
		r.start(t, r.client, holdings.Options{Store: otherOwner{st}})
		time.Sleep(10 * time.Minute)
		s := r.snapshot()
		if read := r.reads.since(begun); read != 0 {
			t.Errorf("the standby read %d documents", read)
		}
		if s.State != holdings.Standby || len(s.Projects) == 0 {
			t.Errorf("state %s with %d projects, want standby with the stored ones", s.State, len(s.Projects))
		}
	})
}

// failingSource is a source that fails for some collections, or that is slow.
type failingSource struct {
	survey.Source
	fails func(topology.Namespace) error
	takes atomic.Int64
}

func (s *failingSource) SampleSizes(ctx context.Context, q survey.SizeQuery) ([]survey.SizedRow, error) {
	time.Sleep(time.Duration(s.takes.Load()))
	if err := s.fails(q.NS); err != nil {
		return nil, err
	}
	return s.Source.SampleSizes(ctx, q)
}

func (s *failingSource) RowSizes(ctx context.Context, q survey.SizeQuery, p *bson.ObjectID, from bson.ObjectID) ([]survey.SizedRow, error) {
	time.Sleep(time.Duration(s.takes.Load()))
	if err := s.fails(q.NS); err != nil {
		return nil, err
	}
	return s.Source.RowSizes(ctx, q, p, from)
}

func refuse(ns topology.Namespace) error {
	denied := &topology.DeniedError{Privilege: "find on " + string(ns), Err: errors.New("code 13")}
	return fault.Wrap(fault.Forbidden, denied, "The cluster user may not read it; it lacks %s.", denied.Privilege)
}

func TestForbiddenCollectionMakesFiguresLowerBounds(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 4, Documents: 100}, holdings.Options{}, func(t *testing.T, r *fixture) {
		r.end()
		r.start(t, &failingSource{Source: r.client, fails: func(ns topology.Namespace) error {
			if ns.Collection() == "changes" {
				return refuse(ns)
			}
			return nil
		}}, holdings.Options{})
		time.Sleep(5 * time.Minute)
		c, s := r.collection(t, "changes"), r.snapshot()
		if c.Measured() || c.Reason != "notPermitted" || c.Problem == "" || s.State != holdings.Measuring {
			t.Errorf("state %s, got %+v, want the reason notPermitted", s.State, c)
		}
		for _, f := range s.Project(db, s.Projects[0].ID) {
			if !f.Rows.AtLeast || f.Rows.Exact || f.Unknown != (f.Rows.Value == 0) {
				t.Errorf("got %+v, want a lower bound, or nothing known", f)
			}
		}
	})
}

func TestWithoutAnyPrivilegeNothingIsKnown(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 4, Documents: 100}, holdings.Options{}, func(t *testing.T, r *fixture) {
		r.end()
		r.start(t, &failingSource{Source: r.client, fails: refuse}, holdings.Options{})
		time.Sleep(5 * time.Minute)
		s := r.snapshot()
		if _, known := s.Sum(db, bson.NewObjectID()); s.State != holdings.Denied || len(s.Projects) != 0 || known {
			t.Errorf("state %s, %d projects, want denied and no figures", s.State, len(s.Projects))
		}
	})
}

func TestReadingPausesWhileTheClusterIsSlow(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 9000}, holdings.Options{}, func(t *testing.T, r *fixture) {
		r.end()
		src := &failingSource{Source: r.client, fails: func(topology.Namespace) error { return nil }}
		src.takes.Store(int64(10 * time.Millisecond))
		r.start(t, src, holdings.Options{})
		time.Sleep(3 * time.Minute)
		src.takes.Store(int64(3 * time.Second))
		time.Sleep(2 * time.Minute)
		slow := time.Now()
		time.Sleep(2 * time.Minute)
		if s, read := r.snapshot(), r.reads.since(slow); s.State != holdings.Paced || read > holdings.PerMinute {
			t.Errorf("state %s, %d documents in two minutes, want paced and less than half the budget", s.State, read)
		}
		src.takes.Store(0)
		time.Sleep(2 * time.Minute)
		if s := r.snapshot(); s.State != holdings.Measuring {
			t.Errorf("state %s after the cluster recovered", s.State)
		}
	})
}

func TestDroppedCollectionTakesItsFiguresAlong(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 4, Documents: 100}, holdings.Options{}, func(t *testing.T, r *fixture) {
		time.Sleep(3 * time.Minute)
		if !r.collection(t, "changes").Measured() {
			t.Fatal("changes is not measured")
		}
		_, err := r.sim.Command(t.Context(), db, bson.D{{Key: "drop", Value: "changes"}})
		must(t, err)
		time.Sleep(3 * time.Minute)
		for _, c := range r.snapshot().Collections {
			if c.NS.Collection() == "changes" && c.Read > 0 {
				t.Errorf("got %+v of a dropped collection", c)
			}
		}
	})
}
