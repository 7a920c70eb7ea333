package actions

import (
	"slices"
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/natural"
)

// spareMoves is added to twice the planned moves: a balancer that splits and moves at
// the same time makes extra moves necessary.
const spareMoves = 8

// leastBytes is as much as a run may always copy, one chunk of the smallest default size:
// a small chunk that is written doubles between the plan and the run.
const leastBytes = 64 << 20

// limits derives the limits of a draft from its steps.
func (d *draftBuilder) limits(out Draft) operation.Limits {
	l := operation.Limits{Project: d.a.Project, Collections: d.namespaces(), Shards: slices.Concat(d.allRecipients(), d.receivers)}
	sent, merges := 0, false
	for _, s := range d.steps {
		if s.Zone != "" {
			l.Zones = append(l.Zones, s.Zone)
		}
		switch {
		case s.Migrates():
			sent++
		case s.Effects().Merges && d.isUndo: // parts that have left meanwhile come back before the merge
			merges = true
			l.Shards = append(l.Shards, plannedShard(s)...)
		}
	}
	l.Zones, l.Shards = natural.Unique(l.Zones), natural.Unique(l.Shards)
	if sent > 0 || merges || d.description.KeepsGoal && !d.isUndo && d.a.Mode != ModeBalancer {
		l.Chunks = 2*sent + spareMoves
		if l.Bytes = out.Effect.Bytes; l.Bytes.Known {
			l.Bytes.Exact, l.Bytes.Value, l.Bytes.PlusMinus = false, max(leastBytes, 2*(l.Bytes.Value+l.Bytes.PlusMinus)), 0
		}
	}
	return l
}

// plannedShard returns the shard on which a merge was planned.
func plannedShard(s operation.Step) []string {
	for _, f := range s.Needs {
		if f.Kind == operation.FactCover && f.Want["shards"] != "" {
			return []string{f.Want["shards"]}
		}
	}
	return nil
}

// Exceeds lists how the draft of the rest of a run, after so many moves, goes beyond limits;
// empty when it stays within them.
func (rest Draft) Exceeds(l operation.Limits, moved int) []operation.Difference {
	var out []operation.Difference
	beyond := func(field, want, got string) {
		out = append(out, operation.Difference{Field: field, Want: want, Got: got})
	}
	for _, ns := range rest.Limits.Collections {
		if !slices.Contains(l.Collections, ns) {
			beyond("limit.collections", operation.Joined(l.Collections), string(ns))
		}
	}
	for _, z := range rest.Limits.Zones {
		if !slices.Contains(l.Zones, z) {
			beyond("limit.zones", operation.Joined(l.Zones), z)
		}
	}
	moves := 0
	for _, s := range rest.Steps {
		if !s.Migrates() {
			continue
		}
		moves++
		if !slices.Contains(l.Shards, s.Shard) {
			beyond("limit.shards", operation.Joined(l.Shards), s.Shard)
		}
	}
	for _, k := range rest.Sends() {
		if slices.Contains(l.Without, k) {
			beyond("limit.kinds", "", string(k))
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
