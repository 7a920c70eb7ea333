package outcome

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Basis is what a run is judged by.
type Basis string

// A run that only splits moves no writes between shards, so it is judged by the hottest of its
// chunks. All others are judged by the hottest shard.
const (
	ByShards Basis = "shards"
	ByChunks Basis = "chunks"
)

// keySpan is a range of keys that a run changed. Min and max may omit the last fields of the shard
// key, as zone ranges do.
type keySpan struct{ min, max bson.Raw }

// scope is the part of the cluster whose writes a run may have changed.
type scope struct {
	spans     map[topology.Namespace][]keySpan
	placed    map[topology.Namespace][]keySpan // of spans, without the chunks that it only split
	basis     Basis
	zonesOnly bool // it moved nothing itself; the balancer moves chunks after it
	awaits    bool // the balancer moves chunks for it while it runs
}

// scopeOf uses the run's current steps, which may become more while it runs. After the run has
// ended, steps without an effect are ignored.
func scopeOf(r engine.Run) scope {
	s := scope{spans: map[topology.Namespace][]keySpan{}, placed: map[topology.Namespace][]keySpan{}, basis: ByChunks, zonesOnly: true}
	if r.IsBatch() && (r.State.Open() || r.Batch.Done > 0) {
		s.basis, s.zonesOnly = ByShards, false
		for _, ns := range r.Limits.Collections {
			s.spans[ns] = nil // the whole collection; its chunks are listed with the items
		}
	}
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
			if !step.Effects().Splits {
				s.placed[ns] = append(s.placed[ns], list...)
				s.basis = ByShards
			}
		}
		s.zonesOnly = s.zonesOnly && step.Effects().ChangesZoneRange
		s.awaits = s.awaits || step.Awaits()
	}
	return s
}

// empty reports whether the run neither moves nor splits chunks, or had no effect.
func (s scope) empty() bool { return len(s.spans) == 0 }

// overlaps reports whether both scopes have a collection in common.
func (s scope) overlaps(o scope) bool {
	for ns := range s.spans {
		if _, both := o.spans[ns]; both {
			return true
		}
	}
	return false
}

// sameRanges reports whether both scopes have a range of keys in common, or that is not known.
func (s scope) sameRanges(t *topology.Table, o scope) bool {
	for ns, spans := range s.spans {
		theirs, both := o.spans[ns]
		c := t.Collection(ns)
		switch {
		case !both:
		case c == nil || spans == nil || theirs == nil || o.zonesOnly || s.zonesOnly:
			return true
		default:
			for _, a := range mergedRanges(c, spans) {
				for _, b := range mergedRanges(c, theirs) {
					if a.Min.Compare(b.Max) < 0 && b.Min.Compare(a.Max) < 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

func (s scope) namespaces() []topology.Namespace {
	out := make([]topology.Namespace, 0, len(s.spans))
	for ns := range s.spans {
		out = append(out, ns)
	}
	slices.SortFunc(out, func(a, b topology.Namespace) int { return natural.Compare(a, b) })
	return out
}

// spansOf returns the key ranges that a step moves, splits or merges, by collection.
func spansOf(s operation.Step) map[topology.Namespace][]keySpan {
	out := map[topology.Namespace][]keySpan{}
	switch {
	case s.Effects().Splits && s.Min == nil: // it has only the split key; its preconditions have the chunk
		for _, f := range s.Needs {
			if f.Kind == operation.FactChunk && f.NS == s.NS {
				out[s.NS] = []keySpan{{f.Min, f.Max}}
				break
			}
		}
	case s.Effects().Splits, s.Effects().Merges, s.Migrates(), s.Effects().ChangesZoneRange:
		out[s.NS] = []keySpan{{s.Min, s.Max}}
	case s.Awaits():
		for _, f := range s.Proof {
			if f.NS != "" && len(f.Min) > 0 && len(f.Max) > 0 {
				out[f.NS] = append(out[f.NS], keySpan{f.Min, f.Max})
			}
		}
	}
	return out
}
