package answer

import (
	"time"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// rangeChange is a move, split or merge of a range of keys, as the changelog or the recorded history has it.
type rangeChange struct {
	at       time.Time
	what     string // moved, split or merge
	span     shardkey.Range
	from, to string // of a move
}

// readRangeChange reads an entry of a collection's changelog; false if it is not the commit of such a change, or
// its bounds do not fit the collection's key.
func readRangeChange(c *topology.Collection, e topology.Event) (rangeChange, bool) {
	switch e.What {
	case "moveChunk.commit", "split", "multi-split", "merge", "autoMerge":
		return rangeChangeOf(c, ReadEvent(e))
	}
	return rangeChange{}, false
}

// rangeChangeOf is readRangeChange of an entry that has been read.
func rangeChangeOf(c *topology.Collection, e Event) (rangeChange, bool) {
	out := rangeChange{at: e.Time.UTC()}
	switch e.What {
	case "moveChunk.commit":
		out.what, out.from, out.to = "moved", e.From, e.To
		if e.From == e.To {
			return out, false // a request to move a range to where it is
		}
	case "split", "multi-split":
		out.what = "split"
	case "merge", "autoMerge":
		out.what = "merge"
	default:
		return out, false
	}
	var err error
	out.span, err = c.Key.Range(e.Min, e.Max)
	return out, err == nil
}
