package answer

import (
	"context"
	"io"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// View is what a page or a fragment is made from: one routing table, one
// directory of projects and one moment. Answers are pure functions of it, so a
// page and the fragment that later replaces a part of it can never disagree.
type View struct {
	Table   *topology.Table
	Dir     *placement.Directory
	Profile *profile.Profile // nil: nothing is compared with layouts
	Now     time.Time
	Data    store.Condition // of the data directory
	Trouble string          // heading of what is wrong with shardboard's own data; "" for nothing

	Internal bool // with the server's own collections in lists that leave them out

	Past *PastTime                                 // nil: it is of now
	Eras history.Eras                              // who may have moved chunks, where that is shown
	Runs func(from, to time.Time) []history.OurRun // of ours; nil: none are known
	// FlightRuns are those that may be what moves now; nil: Runs tells.
	FlightRuns func() []history.OurRun

	Sizes  ChunkSizes                                                                               // nil: chunks are not measured
	Writes func(*topology.Table, topology.Namespace) (rates map[int]heat.Rate, known, atLeast bool) // by chunk; nil: not counted
	// WritesAt is another number for each window that Writes is of; nil: not counted.
	WritesAt func(topology.Namespace) int64
	Counts   *heat.Collector // of writes; nil: not counted
	Window   time.Duration   // that figures of writes are of; 0: the usual one. Use WritesWindow.
	Kept     *Kept           // nil: nothing is remembered of the table

	HoldingsOf func(*topology.Table) *holdings.Snapshot // of projects on shards; nil: not estimated. Use Holdings.

	Found *rules.View // what the rules find in it; nil: Problems evaluates them

	Hidden Hidden // from those whom the view is for
	Whole  *View  // the same with nothing hidden; nil: nothing is hidden

	Pins        map[string]rules.Pin // of now, by project; nil: nothing is known of any
	PinsVersion uint64
}

// WritesWindow is the time before the newest count that figures of writes are of. Problems have times of their own,
// which their sentences name.
func (v View) WritesWindow() time.Duration {
	if v.Window == 0 {
		return DefaultWindow
	}
	return v.Window
}

// LastWrites names that time: "the last 5 min".
func (v View) LastWrites() string { return "the last " + format.Span(v.WritesWindow()) }

// Holdings is what each project holds on each shard; nil when it is not estimated, or for a past time.
func (v View) Holdings() *holdings.Snapshot {
	// Rows are placed by their key values, which a hidden table does not have.
	whole := v.Computable()
	if whole.HoldingsOf == nil || v.Past != nil {
		return nil
	}
	return whole.HoldingsOf(whole.Table)
}

// FragmentFunc renders the shared live region of one topic. It holds nothing
// that depends on the user, a filter or a page number.
type FragmentFunc func(ctx context.Context, w io.Writer, v View) error

// DefaultWindow is the time that rates are of when none is asked for.
const DefaultWindow = heat.UsualWindow

// LocateTimeout bounds the few reads that one query may cost the cluster.
const LocateTimeout = 5 * time.Second
