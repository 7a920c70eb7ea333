package actions

import (
	"testing"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// waitedForCleanup: a move of ours waited until c had deleted [20, 40).
func waitedForCleanup(t *testing.T, ago time.Duration) func(*Situation) {
	return func(s *Situation) {
		s.Cleaned = []operation.Cleanup{{NS: documents, Shard: "c", Min: doc(t, project(20)), Max: doc(t, project(40)), Since: s.Now.Add(-ago)}}
	}
}

func TestRowsToCountAreOfThePlansProjectOrOfItsMovedRanges(t *testing.T) {
	beta := oid(20).Hex()
	narrow := func(s Situation) Args {
		b := chunkAt(t, s, documents, 1)
		return Args{NS: documents, Bounds: b, To: "c", Min: doc(t, project(20)), Max: doc(t, project(21))}
	}
	for name, c := range map[string]struct {
		release string
		kind    Kind
		args    func(Situation) Args
		want    map[topology.Namespace]string // → project
	}{
		"pin": {"5.0.7", Pin, fixed(Args{Project: "beta", Shard: "c"}),
			map[topology.Namespace]string{documents: beta, clients: beta}},
		"spread": {"5.0.7", Spread, fixed(Args{Project: "beta"}),
			map[topology.Namespace]string{clients: beta}},
		"a chunk of one project":  {"6.0.0", MoveChunk, narrow, map[topology.Namespace]string{documents: beta}},
		"cut out before the move": {"5.0.7", MoveChunk, narrow, map[topology.Namespace]string{documents: beta}},
		"a chunk of several":      {"5.0.7", MoveChunk, ofChunk(t, 1, "c"), map[topology.Namespace]string{documents: ""}},
		"a cut moves nothing":     {"5.0.7", Split, func(s Situation) Args { return Args{NS: documents, At: doc(t, project(30))} }, nil},
		"no collection":           {"5.0.7", BalancerOn, fixed(Args{}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster(t, "0.6.38", c.release)
			d, a := plan(t, s, c.kind, c.args(s))
			got := map[topology.Namespace]string{}
			for _, r := range RowsOf(s, a, d.Steps) {
				got[r.NS] = r.Project
				if _, err := r.Match.LookupErr("project_id", "$lt"); r.Project == "" && err == nil {
					continue // a range
				}
				if id, ok := r.Match.Lookup("project_id", "$eq").ObjectIDOK(); !ok || id.Hex() != r.Project {
					t.Errorf("%s is looked for by %s", r.NS, r.Match)
				}
			}
			for ns, p := range c.want {
				if of, counted := got[ns]; of != p || !counted {
					t.Errorf("of %s it counts %q, want %q", ns, of, p)
				}
			}
			if len(c.want) == 0 && len(got) > 0 {
				t.Errorf("it counts %v", got)
			}
		})
	}
}
