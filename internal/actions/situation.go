package actions

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Situation is all that a plan is made from.
type Situation struct {
	Table     *topology.Table
	Directory *placement.Directory
	Profile   *profile.Profile
	Release   balance.Release
	Shared    []placement.SharedID // ids known to be on several shards
	SharedAt  time.Time            // of the check that found them; zero: nobody looked
	Now       time.Time
	Activity  Activity  // asked of the cluster for this plan
	Cleaned   []Cleanup // known to be done: the shard said so to who had waited
	Flags     Flags     // whether the table's jumbo flags were read for this plan
	Writes    Writes    // recent writes to the ranges that a plan depends on
	Measured  Measured  // sizes that were measured for this plan

	Maintenance []Maintenance // when changes are wanted; none: always
}

// Activity is what goes on in the cluster now.
type Activity struct {
	Known      bool
	Reason     string // catalogue code when not known: "notPermitted", "unreachable"
	At         time.Time
	Migrations []balance.Migration
	DDL        []Operation
	Cleanups   []Cleanup
}

// Operation is a command of somebody that stands in the way.
type Operation struct {
	NS   topology.Namespace
	What string        // the command's name, hostile text
	For  time.Duration // how long it has run
}

// Cleanup is a range whose rows are still to be deleted on a shard that gave it
// away: until then it can't come back there.
type Cleanup struct {
	NS       topology.Namespace
	Min, Max bson.Raw
	Shard    string
	Since    time.Time // when it was given away, by the changelog; zero: not known
	Until    time.Time // when it is expected to be done; zero: not known
}

// Same tells whether both are one range given away at one time. What was given
// away at a time that is not known is the same as nothing.
func (c Cleanup) Same(o Cleanup) bool {
	return c.NS == o.NS && c.Shard == o.Shard && !c.Since.IsZero() && c.Since.Equal(o.Since) && bytesEqual(c.Min, o.Min) &&
		bytesEqual(c.Max, o.Max)
}

// Overlaps tells whether its range has a key in [min, max); one that is not known
// may have.
func (c Cleanup) Overlaps(p shardkey.Pattern, min, max bson.Raw) bool {
	from, err1 := p.Bound(c.Min)
	to, err2 := p.Bound(c.Max)
	lo, err3 := p.Bound(min)
	hi, err4 := p.Bound(max)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return true
	}
	return from.Compare(hi) < 0 && to.Compare(lo) > 0
}

// GivenAway is what a changelog entry leaves to be cleaned up; false for one that
// is not the commit of a migration, or does not name its donor.
func GivenAway(e topology.Event) (c Cleanup, ok bool) {
	g, ok := topology.GivenAway(e)
	return Cleanup{NS: g.NS, Shard: g.Shard, Min: g.Min, Max: g.Max, Since: e.Time}, ok
}

// Reader reads the cluster itself, never a table: what a command needs before
// it is sent, and what proves its effect after. Reads are of the majority and
// not older than the newest command of this process. Errors are classified with
// fault.
type Reader interface {
	// ReadFact gives the fields of a fact as they are now.
	ReadFact(ctx context.Context, f Fact) (map[string]string, error)
	// Activity asks what goes on: migrations, DDL, pending clean-ups.
	Activity(ctx context.Context, nss []topology.Namespace) (Activity, error)
	// Changelog gives entries of a namespace since a time, oldest first.
	Changelog(ctx context.Context, ns topology.Namespace, since time.Time, limit int) ([]topology.Event, error)
	// Trace looks for a command that was sent at about that time with this comment
	// and these bounds, so that an outcome that is not known can be settled: only
	// what neither has its effect nor is at work any more has failed.
	Trace(ctx context.Context, run string, s Step, since time.Time) (Trace, error)
	// MigrationsNow gives those that are under way, whoever began them, by the
	// cheapest read that the release has.
	MigrationsNow(ctx context.Context) ([]balance.Migration, error)
	// ChunksFromNow gives chunks of a collection in key order, from the one that
	// begins at or after a key on, at most limit.
	ChunksFromNow(ctx context.Context, m topology.Meta, from shardkey.Key, limit int) ([]topology.Chunk, error)
	// ClusterID tells which cluster answers now; "" where that may not be read.
	ClusterID(ctx context.Context) (string, error)
}

// Writes is what is known of recent writes, for plans that split where they are.
type Writes struct {
	Ranges []topology.RangeWrites // of each range asked for
	// Shards is rows a second that each shard takes, of all collections that are
	// counted; nil when that is not known.
	Shards map[string]float64
	At     time.Time // when it was asked; zero: not asked
}

// of is what is known of the writes to a range.
func (w Writes) of(ns topology.Namespace, lo, hi shardkey.Key) topology.RangeWrites {
	for _, r := range w.Ranges {
		if r.NS == ns && r.Min.Compare(lo) == 0 && r.Max.Compare(hi) == 0 {
			return r
		}
	}
	return topology.RangeWrites{NS: ns, Min: lo, Max: hi, Reason: reasonNotLoaded}
}

// RecentWrites tells where rows were written lately. It may read the cluster,
// within its own bounds; what is not known says why.
type RecentWrites interface {
	RecentWrites(ctx context.Context, t *topology.Table, of []Span) Writes
}

// Planner makes the draft of a kind. The arguments come back resolved: names
// turned into ids, references into bounds. What is wrong with them is a
// fault.Error of kind Invalid or NotFound whose text names the argument.
type Planner func(s Situation, a Args) (Draft, Args, error)
