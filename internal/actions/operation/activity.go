package operation

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Activity is what is running in the cluster now.
type Activity struct {
	Known      bool
	Reason     string // catalogue code when not known: "notPermitted", "unreachable"
	At         time.Time
	Migrations []balance.Migration
	DDL        []Running
	Cleanups   []Cleanup

	IndexBuilds       []Running
	Reshardings       []Resharding // and other operations that are built on them
	ReshardingsReason string       // catalogue code when those are not known; "" when they are
}

// Running is a running command that conflicts with a plan.
type Running struct {
	NS   topology.Namespace
	What string        // the command's name, hostile text
	For  time.Duration // how long it has run
}

// Cleanup is a range that a shard has given away and whose documents it has not
// deleted yet. The range cannot move back to that shard before they are deleted.
type Cleanup struct {
	NS       topology.Namespace
	Min, Max bson.Raw
	Shard    string
	Since    time.Time // when it was given away, from the changelog; zero: not known
	Until    time.Time // when it is expected to be done; zero: not known
}

// Same reports whether both are the same range, given away at the same time. A
// clean-up without a known time equals no other.
func (c Cleanup) Same(o Cleanup) bool {
	return c.NS == o.NS && c.Shard == o.Shard && !c.Since.IsZero() && c.Since.Equal(o.Since) && bytes.Equal(c.Min, o.Min) &&
		bytes.Equal(c.Max, o.Max)
}

// Overlaps reports whether its range has a key in [min, max). If either range cannot
// be read it returns true, because they may overlap.
func (c Cleanup) Overlaps(p shardkey.Pattern, min, max bson.Raw) bool {
	lo, errLo := p.Bound(min)
	hi, errHi := p.Bound(max)
	return errLo != nil || errHi != nil || c.OverlapsKeys(p, lo, hi)
}

// OverlapsKeys is Overlaps of keys that are read already.
func (c Cleanup) OverlapsKeys(p shardkey.Pattern, lo, hi shardkey.Key) bool {
	from, errFrom := p.Bound(c.Min)
	to, errTo := p.Bound(c.Max)
	return errFrom != nil || errTo != nil || from.Compare(hi) < 0 && to.Compare(lo) > 0
}

// GivenAway returns the clean-up that follows from a changelog entry; false when the
// entry is not the commit of a migration, or does not name the donor.
func GivenAway(e topology.Event) (c Cleanup, ok bool) {
	g, ok := topology.GivenAway(e)
	return Cleanup{NS: g.NS, Shard: g.Shard, Min: g.Min, Max: g.Max, Since: e.Time}, ok
}
