package store

import (
	"context"
	"time"
)

// HistoryEntry is one observed state or change of a part of a cluster. What
// Body holds is the business of who wrote it.
type HistoryEntry struct {
	Seq    int64 // given by the store, growing
	At     time.Time
	Stream string // which part: one line of states of its own
	Whole  bool   // Body is the whole state, not a change of the entry before
	Body   []byte
}

// HistoryEvent is a changelog entry that was seen, kept beyond the cap of the
// server's own log.
type HistoryEvent struct {
	ID      string
	At      time.Time
	What    string
	NS      string
	Shard   string
	Failed  bool   // it tells of something that did not work
	Details []byte // BSON
}

// HistoryEvents asks for events of a time, newest first unless Ascending.
type HistoryEvents struct {
	From, To   time.Time // [From, To); zero: open
	NS         string    // "" = any
	OnlyFailed bool
	Ascending  bool
	Limit      int
	// Without leaves entries out, before Limit counts; nil: none. It is called in
	// the order of the answer, for each entry that is passed on the way.
	Without func(HistoryEvent) bool
}

// Watched is a span of time in which somebody looked.
type Watched struct{ From, To time.Time }

// History keeps how placement looked before, so that it outlives the changelog
// of the server.
type History interface {
	// AppendHistory adds entries and events of one moment, all or none. Events
	// that are there already stay as they are.
	AppendHistory(ctx context.Context, cluster string, entries []HistoryEntry, events []HistoryEvent) error
	// HistoryOf gives what makes a stream's state at a time: its last whole entry
	// not after it and the changes from there up to it, in order. Empty when nothing
	// is known of that time.
	HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]HistoryEntry, error)
	// HistoryTimes gives the times of entries of streams with a prefix in [from, to),
	// oldest first, at most limit.
	HistoryTimes(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]time.Time, error)
	// HistoryBetween gives the entries of streams with a prefix in [from, to), in
	// the order in which they were written, at most limit.
	HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]HistoryEntry, error)
	// HistoryStep gives the time of the entry next to at, after it or before it, of
	// streams with a prefix; zero when there is none.
	HistoryStep(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error)
	// Events gives kept changelog entries.
	Events(ctx context.Context, cluster string, q HistoryEvents) ([]HistoryEvent, error)
	// NoteWatched extends the last watched span to now, or begins one when the last
	// ended longer than gap before.
	NoteWatched(ctx context.Context, cluster string, now time.Time, gap time.Duration) error
	// WatchedSpans gives the spans that meet [from, to), oldest first.
	WatchedSpans(ctx context.Context, cluster string, from, to time.Time) ([]Watched, error)
	// TrimHistory forgets what is not needed for any state at or after before.
	TrimHistory(ctx context.Context, cluster string, before time.Time) error
}
