package app

import (
	"log/slog"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	answers "shardboard/internal/answer"
	"shardboard/internal/cluster"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// trier makes trial plans for pages; nil while actions are off.
func (a *instance) trier() answers.Trier {
	if a.engine == nil {
		return nil
	}
	return a.engine
}

// engineParts are the parts of the program that the engine uses.
type engineParts struct {
	client     *cluster.Client
	watcher    *topology.Watcher
	keeper     *placement.Keeper
	duplicates *placement.DuplicateCheck
	profile    *profile.Profile
	store      store.Store
	writes     actions.WriteRates
	recent     actions.RecentWrites
	sizes      actions.Sizes
	log        *slog.Logger
	now        func() time.Time // nil: time.Now

	maintenance []actions.Maintenance
}

// newEngine makes the engine, the only part that changes the cluster. Its Serve must run for the
// life of the program.
func newEngine(p engineParts) *engine.Engine {
	return engine.New(engine.Options{
		Admin: p.client, Renderer: p.client, Reader: p.client, Planners: actions.Planners(),
		Journal: p.store, Audit: p.store, Tables: p.watcher, Directory: p.keeper, Profile: p.profile,
		Shared: sharedIDs{
			p.duplicates,
		}, Counter: p.client, Writes: p.writes, Recent: p.recent, Sizes: p.sizes, Log: p.log, Now: p.now, Maintenance: p.maintenance,
		Rounds: p.client,
	})
}

// wireActions makes the engine. With actions off it returns nil, and web has no route that changes
// the cluster.
func (a *instance) wireActions(c Config, client *cluster.Client, prof *profile.Profile) engine.Service {
	if !c.Actions {
		return nil
	}
	a.engineParts = engineParts{client: client, watcher: a.watcher, keeper: a.keeper, duplicates: a.duplicates,
		profile: prof, store: a.store, writes: writeRates{a.heat}, recent: recentWrites{a.heat, client}, sizes: a.sizes, log: c.Log,
		maintenance: c.Maintenance}
	a.engine = newEngine(a.engineParts)
	a.pins = &pinIndex{runs: a.engine, tables: a.watcher, log: c.Log}
	a.outcomes = outcome.New(outcome.Options{Runs: a.engine, Tables: a.watcher, Profile: prof, Store: a.store, Log: c.Log})
	a.heat.OnSlot(a.outcomes.Take)
	return a.engine
}

// sharedIDs gives plans the result of the check for duplicate ids.
type sharedIDs struct{ check *placement.DuplicateCheck }

// SharedIDs returns the ids found so far. The time is zero until a check was complete, because ids
// that were not found may still exist.
func (s sharedIDs) SharedIDs() ([]placement.SharedID, time.Time) {
	r := s.check.Report()
	if r.State != placement.CheckDone {
		return r.Found, time.Time{}
	}
	return r.Found, r.Ended
}
