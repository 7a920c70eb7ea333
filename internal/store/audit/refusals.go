package audit

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/store"
)

// Limits of what refused attempts can add to the record, which is kept forever. Anybody can make
// any number of anonymous attempts, so all of them together have an allowance, and each kind has
// one too: a script that tries an old token for weeks must not use up what a guessed password would
// need. Attempts beyond either allowance go into a summary, at most one an hour: in total 120
// records at first, then 240 a day, and 24 summaries.
const (
	refusalEvery   = time.Minute // between records of one kind
	anonymousBurst = 120
	anonymousPause = 6 * time.Minute
	kindBurst      = 30
	kindPause      = 30 * time.Minute
	summaryEvery   = time.Hour
	anonymousKinds = 128 // kinds of anonymous attempts; fewer occur unless somebody invents them

	// Attempts of signed-in people without the right to do what they tried. Each person is counted
	// separately, and anonymous attempts do not use their allowance.
	personBurst = 120
	personPause = 30 * time.Second
	personKinds = 512

	refusalAppend = 5 * time.Second
	lineBurst     = 30 // log lines
	linePause     = 2 * time.Second
)

// AccessFlood is the code of a summary of refused attempts of several kinds, beyond what is
// recorded kind by kind.
const AccessFlood = "access.flood"

// Refusals counts refused attempts and records them: the first of a kind at once, later ones at
// most once a minute as one record with their number, the number of addresses and examples.
// Attempts are of the same kind when they differ only in time, address and subject. One value
// serves the whole program. A crash loses what was counted since the last record: a minute, or up
// to an hour of attempts beyond the allowances. Safe for concurrent use.
type Refusals struct {
	o RefusalOptions

	mu        sync.Mutex
	kinds     map[kind]*refusalCounter
	people    allowance
	anonymous allowance
	summary   time.Time // time of the last summary; zero: none yet

	lines   *rate.Limiter
	leftOut int // log lines suppressed since the last one
}

// RefusalOptions configure Refusals.
type RefusalOptions struct {
	Record func(context.Context, store.AuditEntry) (store.AuditRecord, error) // nil: another process keeps the record; only the log is written
	Log    *slog.Logger                                                       // nil discards
	Now    func() time.Time                                                   // nil is time.Now
}

// NewRefusals starts no goroutine; Run records what was counted.
func NewRefusals(o RefusalOptions) *Refusals {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Refusals{o: o, kinds: map[kind]*refusalCounter{},
		people:    allowance{records: rate.NewLimiter(rate.Every(personPause), personBurst), maxKinds: personKinds},
		anonymous: allowance{records: rate.NewLimiter(rate.Every(anonymousPause), anonymousBurst), maxKinds: anonymousKinds},
		lines:     rate.NewLimiter(rate.Every(linePause), lineBurst)}
}

// Add counts a refused attempt and records it if it is the first of its kind for a minute. An entry
// without By is anonymous. It must not contain what an anonymous client typed: it may be a password
// in the wrong field.
func (r *Refusals) Add(e store.AuditEntry) {
	r.mu.Lock()
	now := r.o.Now()
	line, leftOut := r.line(now)
	of := r.counterFor(e, now)
	of.add(e, now)
	var out []dueRecord
	if of.recordDue(now) && r.allowed(of, now) {
		out = append(out, of.take(now))
	}
	r.mu.Unlock()
	if line {
		r.log(e, leftOut)
	}
	r.write(out)
}

// Flush records everything counted so far, even if the last summary is less than an hour old.
func (r *Refusals) Flush() { r.flush(true) }

// Run records once a minute until ctx ends, and then what is left.
func (r *Refusals) Run(ctx context.Context) error {
	tick := time.NewTicker(refusalEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.flush(false)
		case <-ctx.Done():
			r.Flush()
			return ctx.Err()
		}
	}
}

func (r *Refusals) flush(all bool) {
	r.mu.Lock()
	now := r.o.Now()
	var out []dueRecord
	var past []*refusalCounter
	for _, of := range r.waiting() {
		switch {
		case all && of.key.by != "" || r.allowed(of, now):
			out = append(out, of.take(now))
		case of.key.by == "":
			past = append(past, of)
		}
	}
	if len(past) > 0 && (all || r.summary.IsZero() || elapsed(r.summary, now, summaryEvery)) {
		r.summary = now
		out = append(out, summarize(past, now))
	}
	r.forget(now)
	leftOut := 0
	if r.leftOut > 0 && r.lines.AllowN(now, 1) {
		leftOut, r.leftOut = r.leftOut, 0
	}
	r.mu.Unlock()
	if leftOut > 0 {
		r.o.Log.Warn("refused attempts not logged individually", "left_out", leftOut)
	}
	r.write(out)
}

// elapsed reports whether that much time has passed. It is also true when the clock was set back
// before since, because waiting could then take days.
func elapsed(since, now time.Time, long time.Duration) bool {
	d := now.Sub(since)
	return d < 0 || d >= long
}
