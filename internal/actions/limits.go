package actions

import (
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/topology"
)

// Limits are what a confirmed plan may touch, whatever the cluster is like by the
// time that its steps are due. A run that is adapted stays within them.
type Limits struct {
	Collections []topology.Namespace
	Project     string // hex id; "" when the plan is about none
	Zones       []string
	Shards      []string        // that may receive chunks
	Chunks      int             // most moves, over the whole run
	Bytes       topology.Figure // most bytes that may be left to move; not known: no such limit
}

// spareMoves is how many moves more than twice as many as planned a run may make:
// a balancer that splits and moves at the same time makes extra ones necessary.
const spareMoves = 8

// limits of a draft, from its own steps.
func (d *draftBuilder) limits(out Draft) Limits {
	l := Limits{Project: d.a.Project, Collections: d.namespaces(), Shards: slices.Concat(d.recipients(), d.receivers)}
	sent, joins := 0, false
	for _, s := range d.steps {
		if s.Zone != "" {
			l.Zones = append(l.Zones, s.Zone)
		}
		switch {
		case s.Migrates():
			sent++
		case s.Op == OpMerge && d.undoing: // what has left meanwhile comes back to be joined
			joins = true
			l.Shards = append(l.Shards, homeOf(s)...)
		}
	}
	slices.Sort(l.Zones)
	l.Zones = slices.Compact(l.Zones)
	slices.Sort(l.Shards)
	l.Shards = slices.Compact(l.Shards)
	if sent > 0 || joins || d.about.KeepsGoal && !d.undoing && d.a.Mode != ModeBalancer {
		l.Chunks = 2*sent + spareMoves
		if l.Bytes = out.Effect.Bytes; l.Bytes.Known {
			l.Bytes.Exact, l.Bytes.Value, l.Bytes.PlusMinus = false, 2*(l.Bytes.Value+l.Bytes.PlusMinus), 0
		}
	}
	return l
}

// homeOf is the shard on which a merge was planned.
func homeOf(s Step) []string {
	for _, f := range s.Needs {
		if f.Kind == FactCover && f.Want["shards"] != "" {
			return []string{f.Want["shards"]}
		}
	}
	return nil
}

// Exceeded tells in what a draft goes beyond the limits after so many moves; none
// when it stays within them.
func (l Limits) Exceeded(moved int, rest Draft) []Difference {
	var out []Difference
	beyond := func(field, want, got string) { out = append(out, Difference{Field: field, Want: want, Got: got}) }
	for _, ns := range rest.Limits.Collections {
		if !slices.Contains(l.Collections, ns) {
			beyond("limit.collections", joined(l.Collections), string(ns))
		}
	}
	for _, z := range rest.Limits.Zones {
		if !slices.Contains(l.Zones, z) {
			beyond("limit.zones", list(l.Zones), z)
		}
	}
	moves := 0
	for _, s := range rest.Steps {
		if !s.Migrates() {
			continue
		}
		moves++
		if !slices.Contains(l.Shards, s.Shard) {
			beyond("limit.shards", list(l.Shards), s.Shard)
		}
	}
	if moves > 0 && moved+moves > l.Chunks {
		beyond("limit.chunks", strconv.Itoa(l.Chunks), strconv.Itoa(moved+moves))
	}
	if b := rest.Effect.Bytes; l.Bytes.Known && b.Known && b.Value > l.Bytes.Value {
		beyond("limit.bytes", strconv.FormatInt(l.Bytes.Value, 10), strconv.FormatInt(b.Value, 10))
	}
	return out
}

func joined(nss []topology.Namespace) string {
	out := make([]string, len(nss))
	for i, ns := range nss {
		out[i] = string(ns)
	}
	return strings.Join(out, ", ")
}
