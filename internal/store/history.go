package store

import (
	"context"
	"time"
)

// HistoryEntry is one observed state or change of a part of a cluster. Only its writer interprets
// Body.
type HistoryEntry struct {
	Seq    int64 // assigned by the store, increasing
	At     time.Time
	Stream string // part of the cluster; each stream has its own sequence of states
	Whole  bool   // Body is a full state and not a change of the previous entry
	Body   []byte
}

// HistoryEvent is an entry of the server's changelog, kept here because the server's own log is
// capped.
type HistoryEvent struct {
	ID      string
	At      time.Time
	What    string
	NS      string
	Shard   string
	Failed  bool   // the operation failed
	Details []byte // BSON
	// CountedAs is the kind under which EventCounts counts it; "" = What.
	CountedAs string
}

// EventCount is how many entries of one kind about one collection a part of a time span has.
type EventCount struct {
	At       time.Time // begin of the part
	What, NS string
	Failed   bool
	N        int
}

// HistoryEvents is a query for events, newest first unless Ascending.
type HistoryEvents struct {
	From, To   time.Time // [From, To); zero: open
	NS         string    // "" = any
	OnlyFailed bool
	Ascending  bool
	Limit      int
	// Without excludes entries before Limit is counted; nil: none. It is called once for each entry
	// read, in the order of the answer.
	Without func(HistoryEvent) bool
	// Enough ends the answer early. It is asked after each entry read; nil: it never does.
	Enough func() bool
}

// Watched is a time span in which a process recorded.
type Watched struct{ From, To time.Time }

// History stores past placement, beyond the server's capped changelog.
type History interface {
	// AppendHistory adds the entries and events of one moment, all or none. Events that exist stay
	// unchanged.
	AppendHistory(ctx context.Context, cluster string, entries []HistoryEntry, events []HistoryEvent) error
	// HistoryOf returns the entries from which a stream's state at a time is made: its last full
	// entry up to then and the changes after it, in order. Empty when the state is unknown.
	HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]HistoryEntry, error)
	// HistoryTimes returns the times of entries in [from, to), of streams with a prefix, oldest
	// first, at most limit.
	HistoryTimes(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]time.Time, error)
	// HistoryBetween returns the entries in [from, to), of streams with a prefix, in the order they
	// were written, at most limit.
	HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]HistoryEntry, error)
	// HistoryStep returns the time of the next entry after at, or the previous one before it, of
	// streams with a prefix; zero when there is none.
	HistoryStep(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error)
	// Events returns stored changelog entries.
	Events(ctx context.Context, cluster string, q HistoryEvents) ([]HistoryEvent, error)
	// EventCounts counts the entries of [from, to), which are whole minutes, in parts of width, a
	// number of minutes; parts begin at multiples of width since 1970. Its cost follows the parts, not the
	// entries.
	EventCounts(ctx context.Context, cluster string, from, to time.Time, width time.Duration) ([]EventCount, error)
	// NoteWatched extends the last watched span to now, or starts a new one when the last ended
	// more than gap ago.
	NoteWatched(ctx context.Context, cluster string, now time.Time, gap time.Duration) error
	// WatchedSpans returns the spans that overlap [from, to), oldest first.
	WatchedSpans(ctx context.Context, cluster string, from, to time.Time) ([]Watched, error)
	// TrimHistory deletes what no state at or after before needs.
	TrimHistory(ctx context.Context, cluster string, before time.Time) error
}
