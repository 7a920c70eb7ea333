package engine

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// changedConcurrently reports whether the changelog has more than one change to the
// chunks of a step since its intent: our own and somebody else's, in either order.
// The preconditions that were read may then no longer have held when the command
// arrived.
func (x *execution) changedConcurrently(s Step) bool {
	if s.NS == "" || s.Effects().InBackground { // a resharding is one operation; what it logs is its own
		return false
	}
	events, err := x.e.opts.Reader.Changelog(x.ctx, s.NS, s.Sent, eventLimit)
	if err != nil {
		return false
	}
	c := x.e.opts.Tables.Table().Collection(s.NS)
	changes, refines := 0, 0
	for _, e := range events {
		if s.Effects().Refines && strings.HasPrefix(e.What, refineEvent) { // its own, and that of somebody else
			if e.What == refineEvent+".start" {
				refines++
			}
			continue
		}
		switch e.What {
		case "moveChunk.commit", "split", "multi-split", "merge":
			if !s.Effects().SetsCollection && mayConcern(c, s, e) {
				changes++
			}
		default:
			for _, ddl := range []string{"dropCollection", "shardCollection", refineEvent, "reshardCollection"} {
				if strings.HasPrefix(e.What, ddl) {
					return true
				}
			}
		}
	}
	return changes > 1 || refines > 1
}

// refineEvent begins the names of what the changelog has about refining a shard key.
const refineEvent = "refineCollectionShardKey"

// mayConcern reports whether a change of chunks may concern the range of a step. An
// entry that cannot be decoded counts as concerning it.
func mayConcern(c *topology.Collection, s Step, e topology.Event) bool {
	lo, hi := e.Details.Lookup("min"), e.Details.Lookup("max")
	if lo.Type == 0 {
		lo, hi = e.Details.Lookup("before", "min"), e.Details.Lookup("before", "max")
	}
	if lo.Type == 0 {
		lo, hi = mergedBounds(e.Details)
	}
	from, okFrom := lo.DocumentOK()
	to, okTo := hi.DocumentOK()
	if c == nil || !okFrom || !okTo {
		return true
	}
	min, max := s.Min, s.Max
	if s.At != nil {
		min, max = s.At, s.At
	}
	first, err1 := c.Key.Bound(from)
	last, err2 := c.Key.Bound(to)
	begin, err3 := c.Key.Bound(min)
	end, err4 := c.Key.Bound(max)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return true
	}
	if s.At != nil {
		return first.Compare(begin) <= 0 && begin.Compare(last) <= 0
	}
	return first.Compare(end) < 0 && begin.Compare(last) < 0
}

// mergedBounds returns the outer bounds of the chunks that a merge joined.
func mergedBounds(details bson.Raw) (lo, hi bson.RawValue) {
	merged, ok := details.Lookup("merged").ArrayOK()
	if !ok {
		return lo, hi
	}
	parts, err := merged.Values()
	if err != nil || len(parts) == 0 {
		return lo, hi
	}
	first, ok1 := parts[0].DocumentOK()
	last, ok2 := parts[len(parts)-1].DocumentOK()
	if !ok1 || !ok2 {
		return lo, hi
	}
	return first.Lookup("min"), last.Lookup("max")
}
