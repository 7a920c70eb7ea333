package holdings

import (
	"context"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// saveEvery is how often a sample is stored. A crash loses the reads since then.
const saveEvery = 5 * time.Minute

func (e *Engine) isLoaded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded
}

// load reads the stored samples of this cluster. An unreadable one is measured again.
func (e *Engine) load(ctx context.Context, t *topology.Table) error {
	var stored []store.Holding
	if e.o.Store != nil {
		var err error
		if stored, err = e.o.Store.LoadHoldings(ctx, t.ClusterID); err != nil {
			return err
		}
	}
	unused := map[string]bool{}
	byName := map[topology.Namespace]*sample{}
	for _, one := range stored {
		unused[one.NS] = true
		s, err := decode(one.Body)
		if err != nil {
			e.o.Log.Error("a stored sample is unreadable and is measured again", "ns", one.NS, "err", err)
			continue
		}
		byName[topology.Namespace(one.NS)] = s
	}
	e.mu.Lock()
	for _, f := range e.followed {
		delete(unused, string(f.target.NS))
		if s := byName[f.target.NS]; s != nil {
			f.sample, f.saved, f.savedAt, f.tried = s, s, e.o.Now(), s.Batches[len(s.Batches)-1].At
		}
	}
	e.cluster, e.loaded = t.ClusterID, true
	e.seq++
	e.mu.Unlock()
	for ns := range unused {
		if e.leads() { // of collections that were dropped while nothing ran
			e.drop(ctx, t.ClusterID, topology.Namespace(ns))
		}
	}
	return nil
}

// saveDue stores the samples that were not stored for some time.
func (e *Engine) saveDue(ctx context.Context) error {
	return e.save(ctx, func(f *followed) bool { return f.saved == nil || e.o.Now().Sub(f.savedAt) >= saveEvery })
}

func (e *Engine) saveAll(ctx context.Context) error {
	return e.save(ctx, func(*followed) bool { return true })
}

// save stores the samples that have changed, of the collections that are due.
func (e *Engine) save(ctx context.Context, due func(*followed) bool) error {
	if e.o.Store == nil || !e.leads() || !e.isLoaded() {
		return nil
	}
	for _, f := range e.followed { // only Run's goroutine changes the list
		e.mu.Lock()
		s, cluster := f.sample, e.cluster
		skip := s == nil || s == f.saved || !due(f)
		e.mu.Unlock()
		if skip {
			continue
		}
		body, err := encode(s)
		if err != nil {
			return err
		}
		one := store.Holding{NS: string(f.target.NS), At: s.Batches[len(s.Batches)-1].At, Body: body}
		if err := e.o.Store.SaveHolding(ctx, cluster, one); err != nil {
			return err
		}
		e.update(func() { f.saved, f.savedAt = s, e.o.Now() })
	}
	return nil
}

// drop deletes what is stored of a collection that is not measured any more.
func (e *Engine) drop(ctx context.Context, cluster string, ns topology.Namespace) {
	if e.o.Store == nil {
		return
	}
	if err := e.o.Store.DropHolding(ctx, cluster, string(ns)); err != nil && ctx.Err() == nil {
		e.o.Log.Warn("delete a stored sample", "ns", string(ns), "err", err)
	}
}
