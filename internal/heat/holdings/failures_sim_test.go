package holdings_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

var small = simcluster.Options{Projects: 4, Documents: 100}

// otherOwner is a store that another process owns.
type otherOwner struct{ store.Holdings }

func (otherOwner) Leads() bool { return false }

func TestStoredSamplesAreRepairedByTheOwnerAndShownByAStandby(t *testing.T) {
	st := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	defer func() { _ = st.Close() }()
	onSim(t, small, holdings.Options{Store: st}, func(t *testing.T, r *fixture) {
		time.Sleep(2 * time.Minute)
		r.end()
		cluster := r.Watcher.Table().ClusterID
		must.Do(t, st.SaveHolding(t.Context(), cluster, store.Holding{NS: db + ".changes", At: time.Now(), Body: []byte("damaged")}))
		must.Do(t, st.SaveHolding(t.Context(), cluster, store.Holding{NS: db + ".dropped", At: time.Now(), Body: []byte("old")}))
		r.start(t, r.Client, holdings.Options{Store: st})
		time.Sleep(6 * time.Minute)
		if c := r.collection("changes"); !c.Measured() || c.Reason != "" {
			t.Errorf("got %+v, want figures instead of the damaged sample", c)
		}
		left, err := st.LoadHoldings(t.Context(), cluster)
		must.Do(t, err)
		if slices.ContainsFunc(left, func(h store.Holding) bool { return h.NS == db+".dropped" }) {
			t.Error("the sample of a collection that does not exist any more is still stored")
		}
		r.end()
		begun := time.Now()
		r.start(t, r.Client, holdings.Options{Store: otherOwner{st}})
		time.Sleep(3 * time.Minute)
		s := r.snapshot()
		if read := r.Log.Documents(begun); read != 0 || s.State != holdings.Standby || len(s.Projects) == 0 {
			t.Errorf("the standby read %d documents; state %s, %d projects, want standby with the stored ones", read, s.State, len(s.Projects))
		}
	})
}

// failingSource is a source that fails for some collections, or that is slow.
type failingSource struct {
	holdings.Source
	fails func(topology.Namespace) bool
	takes atomic.Int64
}

func (s *failingSource) wait(ns topology.Namespace) error {
	time.Sleep(time.Duration(s.takes.Load()))
	if s.fails == nil || !s.fails(ns) {
		return nil
	}
	denied := &topology.DeniedError{Privilege: "find on " + string(ns), Err: errors.New("code 13")}
	return fault.Wrap(fault.Forbidden, denied, "The cluster user may not read it; it lacks %s.", denied.Privilege)
}

func (s *failingSource) SampleSizes(ctx context.Context, q survey.SizeQuery) ([]survey.SizedRow, error) {
	if err := s.wait(q.NS); err != nil {
		return nil, err
	}
	return s.Source.SampleSizes(ctx, q)
}

func (s *failingSource) RowSizes(ctx context.Context, q survey.SizeQuery, p *bson.RawValue,
	from survey.Position) ([]survey.SizedRow, error) {
	if err := s.wait(q.NS); err != nil {
		return nil, err
	}
	return s.Source.RowSizes(ctx, q, p, from)
}

func TestWhatMayNotBeReadIsALowerBoundOrUnknown(t *testing.T) {
	onSim(t, small, holdings.Options{}, func(t *testing.T, r *fixture) {
		r.start(t, &failingSource{Source: r.Client, fails: func(topology.Namespace) bool { return true }}, holdings.Options{})
		time.Sleep(3 * time.Minute)
		s := r.snapshot()
		if _, known := s.Sum(db, bson.NewObjectID()); s.State != holdings.Denied || len(s.Projects) != 0 || known {
			t.Errorf("without any privilege: state %s, %d projects, want denied and no figures", s.State, len(s.Projects))
		}
		one := func(ns topology.Namespace) bool { return ns.Collection() == "changes" }
		r.start(t, &failingSource{Source: r.Client, fails: one}, holdings.Options{})
		time.Sleep(3 * time.Minute)
		c, s := r.collection("changes"), r.snapshot()
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

func TestReadingPausesWhileTheClusterIsSlow(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 2500}, holdings.Options{}, func(t *testing.T, r *fixture) {
		src := &failingSource{Source: r.Client}
		src.takes.Store(int64(10 * time.Millisecond))
		r.start(t, src, holdings.Options{})
		time.Sleep(2 * time.Minute)
		src.takes.Store(int64(3 * time.Second))
		time.Sleep(2 * time.Minute)
		slow := time.Now()
		time.Sleep(2 * time.Minute)
		if s, read := r.snapshot(), r.Log.Documents(slow); s.State != holdings.Paced || read > holdings.PerMinute {
			t.Errorf("state %s, %d documents in two minutes, want paced and less than half the budget", s.State, read)
		}
		src.takes.Store(0)
		time.Sleep(2 * time.Minute)
		if s := r.snapshot(); s.State != holdings.Measuring {
			t.Errorf("state %s after the cluster recovered", s.State)
		}
	})
}
