package store

import (
	"context"
	"time"
)

// ProblemRecord is one time in which a problem of a cluster lasted. Only its writer interprets Body.
type ProblemRecord struct {
	ID    string    // of the problem: the same when it comes again
	Since time.Time // when it began
	Until time.Time // when it ended; zero: it lasts
	Body  []byte
}

// JudgedSpan is a time in which problems were looked for, all the time in the same way. Body says what could not be
// checked; only its writer interprets it.
type JudgedSpan struct {
	From, To time.Time
	Body     []byte
}

// Problems stores which problems there were, and when somebody looked for them.
type Problems interface {
	// SaveProblems adds records, or replaces those of the same problem and begin, all or nothing.
	SaveProblems(ctx context.Context, cluster string, list []ProblemRecord) error
	// ProblemRecords returns those that lasted at some time in [from, to], the newest begin first. A zero time is no
	// bound.
	ProblemRecords(ctx context.Context, cluster string, from, to time.Time) ([]ProblemRecord, error)

	// NoteJudged extends the last span to now, unless it ended more than gap ago. It starts a new one there and where the
	// last has another body.
	NoteJudged(ctx context.Context, cluster string, now time.Time, gap time.Duration, body []byte) error
	// JudgedSpans returns the spans that overlap [from, to], oldest first. A zero time is no bound.
	JudgedSpans(ctx context.Context, cluster string, from, to time.Time) ([]JudgedSpan, error)

	// TrimProblems deletes records and spans that ended before a time.
	TrimProblems(ctx context.Context, cluster string, before time.Time) error
}
