package actions

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Flags tells whether the jumbo flags of the chunks that a plan is about were
// read for it. Setting or clearing one gives a chunk no new version, so that a
// table has flags that are up to minutes older than everything else in it.
type Flags struct {
	At     time.Time // when all of them were read; zero: not
	Reason string    // catalogue code when not: "notPermitted", "unreachable", "tooMany"
}

// Span is a range of a collection.
type Span struct {
	NS       topology.Namespace
	Min, Max shardkey.Key
}

// FlagRead is one read of neighbouring chunks: so many from a bound on.
type FlagRead struct {
	C     *topology.Collection
	From  shardkey.Key
	Limit int
}

// How much is read for the flags of one plan.
const (
	flagReads  = 16   // reads
	flagChunks = 2000 // chunks of all of them
	flagGap    = 100  // chunks in between that are read too, to have one read less
)

// FlagReads are the reads that give the flags of spans; all is false when they
// would be too many: then what is given is a part.
func FlagReads(t *topology.Table, spans []Span) (reads []FlagRead, all bool) {
	type run struct {
		c        *topology.Collection
		from, to int
	}
	var runs []run
	for _, s := range spans {
		c := t.Collection(s.NS)
		if c == nil {
			continue
		}
		if from, to := c.Chunks.Overlap(shardkey.Range{Min: s.Min, Max: s.Max}); from < to {
			runs = append(runs, run{c, from, to})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.c.NS, b.c.NS), cmp.Compare(a.from, b.from)) })
	var joined []run
	for _, r := range runs {
		if n := len(joined); n > 0 && joined[n-1].c == r.c && r.from <= joined[n-1].to+flagGap {
			joined[n-1].to = max(joined[n-1].to, r.to)
			continue
		}
		joined = append(joined, r)
	}
	left := flagChunks
	for _, r := range joined {
		if left == 0 || len(reads) == flagReads {
			return reads, false
		}
		n := min(r.to-r.from, left)
		reads = append(reads, FlagRead{C: r.c, From: r.c.Chunks.At(r.from).Min, Limit: n})
		if left -= n; n < r.to-r.from {
			return reads, false
		}
	}
	return reads, true
}

// look notes that the draft depends on the flags of the chunks of a range.
func (d *draftBuilder) look(c *topology.Collection, lo, hi shardkey.Key) {
	d.looked = append(d.looked, Span{NS: c.NS, Min: lo, Max: hi})
}

// fromFlags says that an answer was read from jumbo flags, and when.
func (d *draftBuilder) fromFlags() message.Message {
	if d.s.Flags.At.IsZero() {
		return message.New("sweep",
			"The chunk table; its jumbo flags are read about once a minute")
	}
	return message.New("cluster",
		"Read from the cluster at {at}", message.Time("at", d.s.Flags.At))
}

// unflagged: nothing that moves is flagged, as far as that is known.
func (d *draftBuilder) unflagged() Check {
	c := Check{ID: "jumbo", Verdict: Pass, Text: message.New("jumbo.none",
		"No chunk that moves is flagged as jumbo."), Source: d.fromFlags()}
	if d.s.Flags.At.IsZero() {
		reason := d.s.Flags.Reason
		if reason == "" {
			reason = reasonNotLoaded
		}
		c.Verdict, c.Text = Warn, message.New("jumbo.unread",
			"No chunk that moves was flagged as jumbo when flags were last read, but they could not be read for "+
				"this plan: {reason}. Each is read again before its command.",
			message.Coded("reason", reason, topology.ReasonText(reason)))
	}
	return c
}
