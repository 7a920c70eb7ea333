package alert

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	// Every is how often problems are checked.
	Every = 30 * time.Second
	// maxAlerts bounds the alerts; the most severe problems are taken.
	maxAlerts = 200
)

// Options are what an engine needs beside its configuration. Zero values mean
// the defaults.
type Options struct {
	Transport http.RoundTripper
	Log       *slog.Logger
	Now       func() time.Time
	Every     time.Duration
}

// Engine keeps the state of alerts and sends them. Only one process may run one on a
// store: the store's owner. Safe for concurrent use.
type Engine struct {
	config  *Config
	observe Source
	store   store.Notices // nil: nothing outlives the process
	client  *http.Client
	o       Options
	targets []*sender

	saving sync.Mutex // held while the store is written, never by whoever only reads the state

	mu       sync.Mutex
	cluster  string // "" before the stored alerts are read
	alerts   map[string]*Alert
	unsaved  map[string]bool // ids whose state, or end, is not in the store yet
	silences []store.Silence
	dropped  int // problems beyond maxAlerts at the last check
	checkErr error
	checked  time.Time
}

// New makes an engine that does nothing until Run. The store may be nil; then
// everything is sent again after a restart.
func New(c *Config, observe Source, kept store.Notices, o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every <= 0 {
		o.Every = Every
	}
	e := &Engine{config: c, observe: observe, store: kept, client: newClient(o.Transport), o: o,
		alerts: map[string]*Alert{}, unsaved: map[string]bool{}}
	for _, t := range c.Targets {
		e.targets = append(e.targets, &sender{Target: t, wake: make(chan struct{}, 1)})
	}
	return e
}

// Run checks and sends until the context ends, and returns after the goroutines of
// all receivers have.
func (e *Engine) Run(ctx context.Context) error {
	var senders sync.WaitGroup
	defer senders.Wait()
	defer e.client.CloseIdleConnections()
	for _, t := range e.targets {
		senders.Go(func() { e.send(ctx, t) })
	}
	tick := time.NewTicker(e.o.Every)
	defer tick.Stop()
	for {
		if err := e.Check(ctx); err != nil && ctx.Err() == nil {
			e.o.Log.Warn("check for alerts", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Check reads the problems once and wakes the senders. When the source or the store
// fails, alerts stay as they are.
func (e *Engine) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.o.Every)
	defer cancel()
	err := e.check(ctx)
	e.mu.Lock()
	e.checkErr = err
	if err == nil {
		e.checked = e.o.Now()
	}
	e.mu.Unlock()
	if err == nil {
		e.wakeAll()
	}
	return err
}

func (e *Engine) wakeAll() {
	for _, t := range e.targets {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

func (e *Engine) check(ctx context.Context) error {
	seen, err := e.observe(ctx)
	if err != nil {
		return err
	}
	if err := e.load(ctx, seen.Cluster); err != nil {
		return err
	}
	if e.store != nil {
		if err := e.readSilences(ctx, seen.Cluster); err != nil {
			return err
		}
	}
	now := e.o.Now()
	slices.SortStableFunc(seen.Notices, func(a, b Notice) int { return cmp.Compare(b.Severity.level(), a.Severity.level()) })
	e.mu.Lock()
	e.dropped = max(len(seen.Notices)-maxAlerts, 0)
	e.update(seen, now)
	e.mu.Unlock()
	return e.save(ctx, now)
}

// load reads the stored alerts of a cluster, once. Another cluster begins without any.
func (e *Engine) load(ctx context.Context, cluster string) error {
	e.mu.Lock()
	same := e.cluster == cluster && cluster != ""
	e.mu.Unlock()
	switch {
	case cluster == "":
		return fault.New(fault.Unavailable, "It is not known yet which cluster this is.")
	case same:
		return nil
	}
	alerts := map[string]*Alert{}
	var last []store.Delivery
	if e.store != nil {
		records, err := e.store.Alerts(ctx, cluster)
		if err != nil {
			return err
		}
		for _, r := range records {
			var a Alert
			if err := json.Unmarshal(r.Body, &a); err != nil || a.ID != r.ID {
				e.o.Log.Warn("a stored alert cannot be read and is dropped", "id", r.ID)
				continue
			}
			alerts[a.ID] = &a
		}
		if last, err = e.store.Deliveries(ctx, cluster); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cluster, e.alerts = cluster, alerts
	for _, t := range e.targets {
		for _, d := range last {
			if d.Target == t.Name {
				t.last = d
			}
		}
	}
	return nil
}

// update applies the problems of now to the alerts, and marks the alerts to be saved.
func (e *Engine) update(seen Observed, now time.Time) {
	for _, a := range e.alerts {
		if a.limitToNow(now) {
			e.unsaved[a.ID] = true
		}
	}
	there := map[string]bool{}
	for _, n := range seen.Notices[:min(len(seen.Notices), maxAlerts)] {
		there[n.ID] = true
		a := e.alerts[n.ID]
		switch {
		case a == nil, a.State == Resolved:
			var sent map[string]Sent
			if a != nil {
				sent = a.Sent // receivers that do not know its end yet
			}
			a = &Alert{Notice: n, State: Pending, Since: now, Sent: sent}
			e.alerts[n.ID] = a
			e.unsaved[n.ID] = true
		default:
			if a.Severity != n.Severity || !a.Missing.IsZero() {
				e.unsaved[n.ID] = true
			}
			a.Notice, a.Missing = n, time.Time{}
		}
		if a.State == Pending && now.Sub(a.Since) >= e.config.For {
			a.State, a.Fired = Firing, now
			e.unsaved[n.ID] = true
		}
	}
	for id, a := range e.alerts {
		switch {
		case there[id] || seen.Unsure != nil && seen.Unsure(a.Rule, a.Subject) && a.State != Resolved:
			continue
		case e.dropped > 0 && a.State == Firing:
			continue // it may be one of the dropped problems
		case a.State == Pending:
			delete(e.alerts, id)
			e.unsaved[id] = true
			continue
		case a.State == Firing && a.Missing.IsZero():
			a.Missing = now
			e.unsaved[id] = true
		}
		if a.State == Firing && now.Sub(a.Missing) >= e.config.For {
			a.State, a.Resolved = Resolved, now
			e.unsaved[id] = true
		}
		switch {
		case a.State != Resolved:
		case a.Over && now.Sub(a.Resolved) >= overKept:
			delete(e.alerts, id)
			e.unsaved[id] = true
		case !a.Over && e.endSent(a, now):
			e.end(a)
		}
	}
	e.limitOver()
}

// Alerts that are over are listed for overKept, at most maxOver of them.
const (
	overKept = 24 * time.Hour
	maxOver  = 50
)

// end marks an alert as over. The caller holds the lock.
func (e *Engine) end(a *Alert) { a.Over, e.unsaved[a.ID] = true, true }

// limitOver forgets the alerts that were over first when there are too many. The caller holds the lock.
func (e *Engine) limitOver() {
	var over []*Alert
	for _, a := range e.alerts {
		if a.Over {
			over = append(over, a)
		}
	}
	slices.SortFunc(over, func(a, b *Alert) int { return cmp.Or(b.Resolved.Compare(a.Resolved), cmp.Compare(a.ID, b.ID)) })
	for _, a := range over[min(len(over), maxOver):] {
		delete(e.alerts, a.ID)
		e.unsaved[a.ID] = true
	}
}

// keepTrying is how long the end of an alert is sent to a receiver that fails.
const keepTrying = 24 * time.Hour

// endSent tells whether all receivers that know of an alert know that it is over.
func (e *Engine) endSent(a *Alert, now time.Time) bool {
	if now.Sub(a.Resolved) >= keepTrying {
		return true
	}
	for _, t := range e.targets {
		if last, ok := a.Sent[t.Name]; ok && last.State == Firing {
			return false
		}
	}
	return true
}

// save stores alerts that changed, and those that an earlier attempt could not store. One
// write follows the other, so that changes are stored in their order.
func (e *Engine) save(ctx context.Context, now time.Time) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	cluster, ids, c, err := e.takeUnsaved(now)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err = e.store.SaveAlerts(ctx, cluster, c); err == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cluster == cluster {
		for id := range ids {
			e.unsaved[id] = true
		}
	}
	return err
}

// takeUnsaved are the changes that the store has not got, which from then on count as stored.
func (e *Engine) takeUnsaved(now time.Time) (cluster string, ids map[string]bool, c store.AlertChange, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.store == nil || e.cluster == "" {
		clear(e.unsaved)
		return "", nil, c, nil
	}
	for id := range e.unsaved {
		a, ok := e.alerts[id]
		if !ok {
			c.Gone = append(c.Gone, id)
			continue
		}
		body, err := json.Marshal(a)
		if err != nil {
			return "", nil, c, err
		}
		c.Saved = append(c.Saved, store.AlertRecord{ID: id, At: now, Body: body})
	}
	ids, e.unsaved = e.unsaved, map[string]bool{}
	return e.cluster, ids, c, nil
}
