package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// pastTime is when a View is of, where it is not of now.
type pastTime struct {
	At      time.Time
	Now     time.Time // the real one
	Watched bool      // false: nobody looked then, and what is shown is the state of Last
	Last    time.Time
	Next    time.Time       // when somebody looked again; zero: not yet
	Rounds  topology.Rounds // as they are known now: the balancer's log reaches back
}

// viewAt is the state that a request is about: of the time of ?at=, else the
// newest. The list of projects is always the newest one.
func (s *Site) viewAt(r *http.Request) (View, error) {
	v := s.viewFor(r)
	text := r.URL.Query().Get("at")
	if text == "" {
		return v, nil
	}
	at, err := parseInstant("at", text, v.Now)
	if err != nil {
		return v, err
	}
	return s.viewOf(r.Context(), v, at)
}

// viewOf is the state of a past time.
func (s *Site) viewOf(ctx context.Context, now View, at time.Time) (View, error) {
	if err := s.keepsHistory(now); err != nil {
		return now, err
	}
	t, err := s.pasts.table(ctx, s.deps.History, now.Table.ClusterID, at, now.Now)
	if err != nil {
		return now, err
	}
	m := history.Moment{Table: t, At: at}
	if err := s.deps.History.Watch(ctx, now.Table.ClusterID, &m); err != nil {
		return now, err
	}
	v := now.computable()
	v.Table, v.Now, v.Cost, v.Found = t, at, 0, nil
	v.Sizes, v.Writes = nil, nil // both are of now
	v.Past = &pastTime{At: at, Now: now.Now, Watched: m.Watched, Last: m.Last, Next: m.Next, Rounds: now.Table.Rounds}
	found := v.problems() // once for the page
	v.Found = &found
	v.Internal = now.Internal
	return s.hide(v, now.Hidden), nil
}

// keepsHistory tells why there is no past to look at, if so.
func (s *Site) keepsHistory(now View) error {
	switch {
	case s.deps.History == nil:
		return fault.New(fault.NotFound, "Nothing is known of the past: this shardboard keeps no history.")
	case !now.Table.Loaded:
		return now.Table.NotLoaded()
	case now.Table.ClusterID == "":
		return fault.New(fault.NotFound, "Nothing is known of the past: history is kept by the cluster's id, which shardboard may not read. It needs find on config.version.")
	}
	return nil
}

// loadedAt is viewAt, once there is a table to answer from.
func (s *Site) loadedAt(r *http.Request) (View, error) {
	v, err := s.viewAt(r)
	if err == nil && !v.Table.Loaded {
		err = v.Table.NotLoaded()
	}
	return v, err
}

// instants are the ways to write a time; those without a zone are UTC, as what
// a form's field sends.
var instants = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// parseInstant reads RFC 3339 or milliseconds since 1970, not later than now.
func parseInstant(name, text string, now time.Time) (time.Time, error) {
	wrong := fault.New(fault.Invalid, "%s is a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970; %q is not.", name, sanitize.Truncate(text, 40))
	var at time.Time
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) <= 14 {
		at = time.UnixMilli(n)
	} else {
		for _, layout := range instants {
			// A plus sign that was not escaped has become a space.
			if t, err := time.Parse(layout, strings.ReplaceAll(text, " ", "+")); err == nil {
				at = t
				break
			}
		}
	}
	if at.IsZero() {
		return at, wrong
	}
	at = at.UTC().Truncate(time.Millisecond)
	if at.After(now) {
		return at, fault.New(fault.Invalid, "%s is %s, which has not come yet: here it is %s.", name, at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return at, nil
}

// Bounds of what is kept of the past in memory, and of how much of it is made
// at once: a table of 100,000 chunks takes a fifth of a second and some MB.
const (
	pastTables = 6
	pastChunks = 1_000_000
	pastMakers = 2
	// settled is how long ago a time has to be for its table to be final: what was
	// seen then may be written a moment later.
	settled = 10 * time.Second
)

// pasts are the tables of past times that were looked at last.
type pasts struct {
	mu      sync.Mutex
	kept    *simplelru.LRU[string, *topology.Table]
	flights singleflight.Group
	makers  chan struct{}
}

func newPasts() *pasts {
	kept, _ := simplelru.NewLRU[string, *topology.Table](pastTables, nil) // fails for no room only
	return &pasts{kept: kept, makers: make(chan struct{}, pastMakers)}
}

func (p *pasts) table(ctx context.Context, from *history.Past, cluster string, at, now time.Time) (*topology.Table, error) {
	key := cluster + " " + strconv.FormatInt(at.UnixMilli(), 36)
	if t := p.get(key); t != nil {
		return t, nil
	}
	made, err, _ := p.flights.Do(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestWait)
		defer cancel()
		select {
		case p.makers <- struct{}{}:
			defer func() { <-p.makers }()
		case <-ctx.Done():
			return nil, fault.New(fault.Unavailable, "Too many past times are being looked at; try again in a moment.")
		}
		t, err := from.Table(ctx, cluster, at)
		if err == nil && now.Sub(at) > settled {
			p.put(key, t)
		}
		return t, err
	})
	if err != nil {
		return nil, err
	}
	return made.(*topology.Table), nil
}

func (p *pasts) get(key string) *topology.Table {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, _ := p.kept.Get(key)
	return t
}

// put keeps a table, which counts by its chunks too: one may be as large as many.
func (p *pasts) put(key string, t *topology.Table) {
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
