package answer

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/answer/param"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// PastTime is when a View is of, where it is not of now.
type PastTime struct {
	At      time.Time
	Now     time.Time // the real one
	Watched bool      // false: nobody looked then, and what is shown is the state of Last
	Last    time.Time
	Next    time.Time       // when somebody looked again; zero: not yet
	Reached bool            // the cluster was reached since the start, so that what is only known of now can be shown
	NamesOf time.Time       // when the stored names of projects were read, which are shown while it was not reached; zero: none are known
	Rounds  topology.Rounds // as they are known now: the balancer's log reaches back
}

// ParsePastTime reads a time that is not later than now, to the millisecond.
func ParsePastTime(name, text string, now time.Time) (time.Time, error) {
	at, err := param.ParseTime(name, text)
	if err != nil {
		return at, err
	}
	if at = at.Truncate(time.Millisecond); at.After(now) {
		return at, fault.New(fault.Invalid, "%s is %s, which is in the future: it is now %s here.",
			name, at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return at, nil
}

// TimeUpTo is a time that is not later than now.
func TimeUpTo(to *time.Time, name, text string, now time.Time) param.Param {
	return param.Of(name, text, func(typed string) (err error) {
		*to, err = ParsePastTime(name, typed, now)
		return err
	})
}

// Bounds of what is kept of the past in memory, and of how much of it is made
// at once: a table of 100,000 chunks takes a fifth of a second and some MB.
const (
	pastTables = 6
	pastChunks = 1_000_000
	pastMakers = 2
	// SettledAfter is how long ago a time has to be for its table to be final: what was
	// seen then may be written a moment later.
	SettledAfter = 10 * time.Second
)

// Pasts are the tables of past times that were looked at last.
type Pasts struct {
	mu      sync.Mutex
	kept    *simplelru.LRU[string, *topology.Table]
	flights singleflight.Group
	makers  chan struct{}
}

// NewPasts keeps no tables yet.
func NewPasts() *Pasts {
	kept, _ := simplelru.NewLRU[string, *topology.Table](pastTables, nil) // fails for no room only
	return &Pasts{kept: kept, makers: make(chan struct{}, pastMakers)}
}

// Table is the routing table of a past time, from memory or made of the history.
func (p *Pasts) Table(ctx context.Context, from *history.Past, cluster string, at, now time.Time) (*topology.Table, error) {
	key := cluster + " " + strconv.FormatInt(at.UnixMilli(), 36)
	if t := p.get(key); t != nil {
		return t, nil
	}
	made, err, _ := p.flights.Do(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RequestWait)
		defer cancel()
		select {
		case p.makers <- struct{}{}:
			defer func() { <-p.makers }()
		case <-ctx.Done():
			return nil, fault.New(fault.Unavailable, "Too many past times are being read; try again in a moment.")
		}
		t, err := from.Table(ctx, cluster, at)
		if err == nil && now.Sub(at) > SettledAfter {
			p.put(key, t)
		}
		return t, err
	})
	if err != nil {
		return nil, err
	}
	return made.(*topology.Table), nil
}

// Drop forgets all tables.
func (p *Pasts) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Purge()
}

func (p *Pasts) get(key string) *topology.Table {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, _ := p.kept.Get(key)
	return t
}

// put keeps a table, which counts by its chunks too: one may be as large as many.
func (p *Pasts) put(key string, t *topology.Table) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Add(key, t)
	total := 0
	for _, k := range p.kept.Values() {
		total += chunksOf(k)
	}
	for p.kept.Len() > 1 && total > pastChunks {
		_, oldest, _ := p.kept.RemoveOldest()
		total -= chunksOf(oldest)
	}
}

func chunksOf(t *topology.Table) (n int) {
	for _, c := range t.Collections {
		n += c.Chunks.Len()
	}
	return n
}

// FieldTime is the layout of the value of a form's date and time field, in UTC.
const FieldTime = "2006-01-02T15:04:05"

// AtText is a time as the parameter at= has it, to the millisecond.
func AtText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z") }

// FullInstant is a time for people, with its date.
func FullInstant(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

// WithAt is a page's address at a time in the past; the zero time leads to now.
func WithAt(page string, at time.Time) string {
	u, err := url.Parse(page)
	if err != nil {
		return "/"
	}
	q := u.Query()
	q.Del("at")
	if !at.IsZero() {
		q.Set("at", AtText(at))
	}
	u.RawQuery = q.Encode()
	return u.String()
}
