package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
)

// DoneItem is a run of a batch that is to be undone.
type DoneItem struct {
	Run     string // its id
	Group   int    // of the undo, from 1
	Kind    Kind
	Args    Args
	Summary message.Message
	Done    []operation.Step // that had their effect, in the order in which they were run
	Effect  Effect           // of its plan
}

// PlanBatchUndo drafts the undo of a batch from the current situation: one item for each of
// its runs, in the given order. An item that can only be undone after those before it is
// planned when its turn comes; its limits then follow from what it did. a are the arguments
// of the batch, whose groups and limits per hour apply to the undo too.
func PlanBatchUndo(s Situation, a Args, was message.Message, done []DoneItem) (Draft, Args, error) {
	d := newDraft(s, Describe(Batch), a)
	d.isUndo = true
	b := batchBuilder{d: d}
	plans := Args{Group: a.Group, PerShard: a.PerShard, ChunksPerHour: a.ChunksPerHour, BytesPerHour: a.BytesPerHour}
	later := 0
	for _, x := range done {
		sub := newDraft(s, Describe(x.Kind), x.Args)
		sub.inBatch = true
		out, err := planUndo(sub, x.Summary, x.Done, x.Effect)
		if fault.Of(err) == fault.Internal {
			return Draft{}, plans, err
		}
		if err != nil || len(out.Steps) == 0 {
			later++
			out = Draft{Summary: undoSummary(x.Summary), Limits: undoLimits(x.Done)}
			sub = newDraft(s, Describe(x.Kind), x.Args)
		}
		item, err := b.add(sub, out, x.Kind, x.Args)
		if err != nil {
			return Draft{}, plans, err
		}
		if item.UndoOf = x.Run; len(out.Steps) == 0 {
			item.Sends = undoneBy(x.Done)
		}
		plans.Plans = append(plans.Plans, PlannedChange{Kind: x.Kind, Args: x.Args})
	}
	if later > 0 {
		d.warn("later", d.fromCluster(), message.New("batch.later", message.Plural(later,
			"{n} item cannot be planned yet, because it depends on others or is undone already. It is planned when its turn comes.",
			"{n} items cannot be planned yet, because they depend on others or are undone already. They are planned when their turn comes."),
			message.Count("n", later)))
	}
	out, err := b.finish(plans, Undo{Text: message.New("redo", "To reverse this, plan the change again.")})
	if err != nil {
		return out, plans, err
	}
	for i, x := range done {
		b.items[i].Group = x.Group
	}
	out.Summary = undoSummary(was)
	return out, plans, nil
}

// undoLimits are the limits of an undo that cannot be planned yet.
func undoLimits(done []operation.Step) (l operation.Limits) {
	for _, s := range done {
		if s.NS != "" {
			l.Collections = append(l.Collections, s.NS)
		}
		if s.Zone != "" {
			l.Zones = append(l.Zones, s.Zone)
		}
		if s.Migrates() {
			l.Chunks += 2
		}
		for _, f := range s.Needs {
			if owner := f.Want["shard"]; owner != "" && f.Kind == operation.FactChunk {
				l.Shards = append(l.Shards, owner)
			}
		}
		l.Shards = append(l.Shards, plannedShard(s)...)
	}
	l.Chunks += spareMoves
	l.Collections, l.Zones, l.Shards = natural.Unique(l.Collections), natural.Unique(l.Zones), natural.Unique(l.Shards)
	return l
}
