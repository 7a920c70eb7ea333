package outcome

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/topology"
)

// Basis is what a run is judged by.
type Basis string

// A run that only cuts moves no writes between shards: it is judged by the
// hottest of the chunks it cut. All others are judged by the hottest shard.
const (
	ByShards Basis = "shards"
	ByChunks Basis = "chunks"
)

// span of keys that a run is about. Min and Max may leave out the last fields of
// the shard key, as zone ranges do.
type keySpan struct{ min, max bson.Raw }

// scope is what of the cluster a run may have changed the writes of.
type scope struct {
	spans     map[topology.Namespace][]keySpan
	basis     Basis
	zonesOnly bool // it moved nothing itself: the balancer does, after it
	awaits    bool // the balancer moves for it, while it runs
}

// scopeOf is made of the steps that a run has now: they may become more while it
// runs. Once the run has ended, steps without an effect do not count.
func scopeOf(r engine.Run) scope {
	s := scope{spans: map[topology.Namespace][]keySpan{}, basis: ByChunks, zonesOnly: true}
	for _, step := range r.Steps {
		if !r.State.Open() && step.State != engine.Succeeded {
			continue
		}
		spans := spansOf(step.Step)
		if len(spans) == 0 {
			continue
		}
		for ns, list := range spans {
			s.spans[ns] = append(s.spans[ns], list...)
		}
		switch step.Op {
		case actions.OpSplitAt, actions.OpSplitMedian:
			s.zonesOnly = false
		case actions.OpSetRange, actions.OpRemoveRange:
			s.basis = ByShards
		default:
			s.basis, s.zonesOnly = ByShards, false
		}
		s.awaits = s.awaits || step.Op == actions.OpAwait
	}
	return s
}

// empty: the run neither moves nor cuts chunks, or had no effect.
func (s scope) empty() bool { return len(s.spans) == 0 }

// meets tells whether both are about a common collection.
func (s scope) meets(o scope) bool {
	for ns := range s.spans {
		if _, both := o.spans[ns]; both {
			return true
		}
	}
	return false
}

func (s scope) namespaces() []topology.Namespace {
	out := make([]topology.Namespace, 0, len(s.spans))
	for ns := range s.spans {
		out = append(out, ns)
	}
	slices.SortFunc(out, func(a, b topology.Namespace) int { return strings.Compare(string(a), string(b)) })
	return out
}

// spansOf are the keys whose place or cut a step changes, by collection.
func spansOf(s actions.Step) map[topology.Namespace][]keySpan {
	switch s.Op {
	case actions.OpMove, actions.OpMoveRange, actions.OpMerge, actions.OpSplitMedian, actions.OpSetRange, actions.OpRemoveRange:
		return map[topology.Namespace][]keySpan{s.NS: {{s.Min, s.Max}}}
	case actions.OpSplitAt: // it names the key alone; the chunk is among what it needs
		for _, f := range s.Needs {
			if f.Kind == actions.FactChunk && f.NS == s.NS {
				return map[topology.Namespace][]keySpan{s.NS: {{f.Min, f.Max}}}
			}
		}
	case actions.OpAwait:
		out := map[topology.Namespace][]keySpan{}
		for _, f := range s.Proof {
			if f.NS != "" && len(f.Min) > 0 && len(f.Max) > 0 {
				out[f.NS] = append(out[f.NS], keySpan{f.Min, f.Max})
			}
		}
		return out
	}
	return nil
}
