package holdings_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
)

// measured are the collections of the newest layout that projects have rows in.
var measured = []string{"documents", "clients", "schemas", "changes", "snapshots", "snapshot_bodies", "versionvectors", "revisions"}

func TestFiguresByProjectAndShardAgreeWithADirectCount(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 9000, Shards: 4}, holdings.Options{}, func(t *testing.T, r *fixture) {
		time.Sleep(40 * time.Minute)
		s := r.snapshot()
		methods := map[string]int{}
		for _, c := range s.Collections {
			methods[c.Method]++
			if c.Reason != "" || c.At.IsZero() && c.Read > 0 {
				t.Errorf("got %+v, want no problem and a time", c)
			}
		}
		if s.State != holdings.Measuring || methods[survey.MethodSample] == 0 || methods[survey.MethodCounted] == 0 {
			t.Fatalf("state %s, methods %v, want some collections sampled and some counted", s.State, methods)
		}
		truth := r.truth(t, measured...)
		cells, outside := 0, 0
		projects := map[bson.ObjectID]bool{}
		for p := range truth {
			projects[p.project] = true
		}
		for id := range projects {
			figures := s.Project(db, id)
			if len(figures) != 4 {
				t.Fatalf("%d shards of project %s, want all 4", len(figures), id.Hex())
			}
			for _, f := range figures {
				want := truth[place{id, f.Shard}]
				cells++
				if want.rows < f.Rows.Low || want.rows > f.Rows.High || want.bytes < f.Bytes.Low || want.bytes > f.Bytes.High {
					outside++
					t.Logf("%s on %s: %+v, truth %+v", id.Hex(), f.Shard, f.Weight, want)
				}
				if f.Rows.Exact && f.Rows.Value != want.rows {
					t.Errorf("%s on %s: exactly %d rows, truth %d", id.Hex(), f.Shard, f.Rows.Value, want.rows)
				}
			}
		}
		if outside > cells/10 {
			t.Errorf("%d of %d figures are outside their 95 %% intervals", outside, cells)
		}
	})
}

func TestProjectsAddUpToTheTotalOfEachShard(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 9000, Shards: 4}, holdings.Options{}, func(t *testing.T, r *fixture) {
		time.Sleep(10 * time.Minute)
		s := r.snapshot()
		sums := map[string]holdings.Cell{}
		for _, p := range s.Projects {
			for _, c := range p.Shards {
				sums[c.Shard] = holdings.Cell{Shard: c.Shard, Rows: sums[c.Shard].Rows + c.Rows, Bytes: sums[c.Shard].Bytes + c.Bytes}
			}
		}
		for _, total := range s.Totals {
			got := sums[total.Shard]
			if !total.Rows.Known || !near(got.Rows, total.Rows.Value) || !near(got.Bytes, total.Bytes.Value) {
				t.Errorf("%s: the projects have %+v, the shard %+v", total.Shard, got, total)
			}
		}
		if len(sums) != 4 || s.Others.Projects != 0 {
			t.Errorf("%d shards, %+v", len(sums), s.Others)
		}
	})
}

// near allows for rounding, and for shards that are weighted together.
func near(a, b int64) bool { return max(a-b, b-a) <= b/100+50 }

func TestEveryCollectionHasFiguresWithinTheFirstMinute(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 2500}, holdings.Options{}, func(t *testing.T, r *fixture) {
		time.Sleep(15 * time.Second)
		for _, c := range r.snapshot().Collections {
			if !c.Measured() {
				t.Errorf("got %+v, want figures", c)
			}
		}
	})
}

func TestReadsStayWithinTheBudget(t *testing.T) {
	for _, perMinute := range []int{0, 300} {
		limit := perMinute
		if limit == 0 {
			limit = holdings.PerMinute
		}
		onSim(t, simcluster.Options{Projects: 12, Documents: 2500}, holdings.Options{PerMinute: perMinute}, func(t *testing.T, r *fixture) {
			time.Sleep(20 * time.Minute)
			documents, commands := r.reads.busiest()
			// A read is paid for after it was made.
			if documents > limit+200 || commands > 60 {
				t.Errorf("%d documents and %d commands in one minute, the limit is %d", documents, commands, limit)
			}
			if documents < limit/2 {
				t.Errorf("%d documents in the busiest minute do not use the budget of %d", documents, limit)
			}
		})
	}
}

func TestNothingIsReadWhenSwitchedOff(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 3, Documents: 50}, holdings.Options{PerMinute: -1}, func(t *testing.T, r *fixture) {
		time.Sleep(5 * time.Minute)
		s := r.snapshot()
		if documents, commands := r.reads.busiest(); commands != 0 {
			t.Errorf("%d documents were read by %d commands", documents, commands)
		}
		if s.State != holdings.Off || len(s.Projects) != 0 || s.Project(db, bson.ObjectID{}) != nil {
			t.Errorf("got %+v, want the state off and no figures", s)
		}
	})
}
