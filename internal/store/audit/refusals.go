package audit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/store"
)

// Bounds of what refused attempts can add to the record, which is kept for
// ever. Whoever has no account can try as often as they like, so all of them
// together have an allowance, and each kind of attempt has one too: a script
// with an old token, which tries for weeks, does not use up what a guessed
// password would need. What is past either allowance is in a summary, at most
// one an hour: 120 records and then 240 a day, with 24 summaries.
const (
	refusalEvery  = time.Minute // between records of one kind
	strangerBurst = 120
	strangerPause = 6 * time.Minute
	kindBurst     = 30
	kindPause     = 30 * time.Minute
	summaryEvery  = time.Hour
	strangerKinds = 128 // counted apart; there are fewer unless somebody invents them

	// People who are signed in and may not do what they tried. They are counted
	// each for themselves, and strangers take nothing of their allowance.
	personBurst = 120
	personPause = 30 * time.Second
	personKinds = 512

	refusalAppend = 5 * time.Second
	lineBurst     = 30 // lines of the log
	linePause     = 2 * time.Second
)

// AccessFlood is the code of a summary: refused attempts of several kinds, when
// there were more of them than are recorded one kind at a time.
const AccessFlood = "access.flood"

// Refusals counts refused attempts and records them: the first of a kind at
// once, those that follow once a minute as one record with their number, how
// many addresses they came from, and examples. Attempts are of one kind when
// they differ only in time, address and subject. One value serves the whole
// program. A crash loses what was counted since the last record: a minute, or
// up to an hour of what is past the allowances. Safe for concurrent use.
type Refusals struct {
	o RefusalOptions

	mu        sync.Mutex
	kinds     map[kind]*refused
	people    allowance
	strangers allowance
	summary   time.Time // of the last one; zero: none yet

	lines   *rate.Limiter
	leftOut int // lines not written since the last one
}

// RefusalOptions make a counter.
type RefusalOptions struct {
	Record func(context.Context, store.AuditEntry) (store.AuditRecord, error) // nil: another process keeps the record; only the log is written
	Log    *slog.Logger                                                       // nil discards
	Now    func() time.Time                                                   // nil is time.Now
}

// NewRefusals starts nothing; Run writes what was counted.
func NewRefusals(o RefusalOptions) *Refusals {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Refusals{o: o, kinds: map[kind]*refused{},
		people:    allowance{records: rate.NewLimiter(rate.Every(personPause), personBurst), most: personKinds},
		strangers: allowance{records: rate.NewLimiter(rate.Every(strangerPause), strangerBurst), most: strangerKinds},
		lines:     rate.NewLimiter(rate.Every(linePause), lineBurst)}
}

// Add counts an attempt that was refused and records it if it is the first of
// its kind for a minute. An entry without By is a stranger's. What a stranger
// typed must not be in it: it may be a password in the wrong field.
func (r *Refusals) Add(e store.AuditEntry) {
	r.mu.Lock()
	now := r.o.Now()
	line, leftOut := r.line(now)
	of := r.of(e, now)
	of.add(e, now)
	var out []due
	if of.quiet(now) && r.allowed(of, now) {
		out = append(out, of.take(now))
	}
	r.mu.Unlock()
	if line {
		r.log(e, leftOut)
	}
	r.write(out)
}

// Flush records what was counted since the last time. Everything is recorded
// in the end, even if the last summary is less than an hour old.
func (r *Refusals) Flush() { r.flush(true) }

// Run records every minute until ctx ends, and what is left then.
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
	var out []due
	var past []*refused
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
		r.o.Log.Warn("refused attempts that have no line of their own", "left_out", leftOut)
	}
	r.write(out)
}

// elapsed tells whether so long has passed since a time, and also when the clock
// was set back behind it: then nobody knows, and waiting could take days.
func elapsed(since, now time.Time, long time.Duration) bool {
	d := now.Sub(since)
	return d < 0 || d >= long
}
