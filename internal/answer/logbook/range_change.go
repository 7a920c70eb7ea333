package logbook

import (
	"time"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// RangeChange is a move, split or merge of a range of keys, as the changelog or the recorded history has it.
type RangeChange struct {
	At       time.Time
	What     string // moved, split or merge
	Span     shardkey.Range
	From, To string // of a move
}

// ReadRangeChange reads an entry of a collection's changelog; false if it is not the commit of such a change, or
// its bounds do not fit the collection's key.
func ReadRangeChange(c *topology.Collection, e topology.Event) (RangeChange, bool) {
	switch e.What {
	case "moveChunk.commit", "split", "multi-split", "merge", "autoMerge":
		return RangeChangeOf(c, ReadEvent(e))
	}
	return RangeChange{}, false
}

// RangeChangeOf is readRangeChange of an entry that has been read.
func RangeChangeOf(c *topology.Collection, e Event) (RangeChange, bool) {
	out := RangeChange{At: e.Time.UTC()}
	switch e.What {
	case "moveChunk.commit":
		out.What, out.From, out.To = "moved", e.From, e.To
		if e.From == e.To {
			return out, false // a request to move a range to where it is
		}
	case "split", "multi-split":
		out.What = "split"
	case "merge", "autoMerge":
		out.What = "merge"
	default:
		return out, false
	}
	var err error
	out.Span, err = c.Key.Range(e.Min, e.Max)
	return out, err == nil
}
