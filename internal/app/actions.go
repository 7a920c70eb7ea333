package app

import (
	"log/slog"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/cluster"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web"
)

// trier tries the plans that pages offer; nil while actions are off.
func (a *instance) trier() web.Trier {
	if a.engine == nil {
		return nil
	}
	return a.engine
}

// engineParts are what the rest of the program has for the engine.
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

	maintenance []actions.Maintenance
}

// newEngine wires the one door through which the cluster is changed. Its Serve
// has to run as long as the program does.
func newEngine(p engineParts) *engine.Engine {
	return engine.New(engine.Options{
		Admin: p.client, Renderer: p.client, Reader: p.client, Planners: actions.Planners(),
		Journal: p.store, Audit: p.store, Tables: p.watcher, Directory: p.keeper, Profile: p.profile,
		Shared: sharedIDs{p.duplicates}, Counter: p.client, Writes: p.writes, Recent: p.recent, Sizes: p.sizes, Log: p.log, Maintenance: p.maintenance, Rounds: p.client,
	})
}

// wireActions makes the engine, or none with actions off: then the web has no
// route that changes the cluster.
func (a *instance) wireActions(c Config, client *cluster.Client, prof *profile.Profile) engine.Service {
	if !c.Actions {
		return nil
	}
	a.engine = newEngine(engineParts{client: client, watcher: a.watcher, keeper: a.keeper, duplicates: a.duplicates,
		profile: prof, store: a.store, writes: writeRates{a.heat}, recent: recentWrites{a.heat, client}, sizes: a.sizes, log: c.Log, maintenance: c.Maintenance})
	a.pins = &pinBook{runs: a.engine, tables: a.watcher, log: c.Log}
	a.outcomes = outcome.New(outcome.Options{Runs: a.engine, Tables: a.watcher, Profile: prof, Store: a.store, Log: c.Log})
	a.heat.OnSlot(a.outcomes.Take)
	return a.engine
}

// sharedIDs is what the check of duplicate ids has found, for plans.
type sharedIDs struct{ check *placement.DuplicateCheck }

// SharedIDs are the ids found so far; a check that was never complete has no
// time: what it did not find may be there.
func (s sharedIDs) SharedIDs() ([]placement.SharedID, time.Time) {
	r := s.check.Report()
	if r.State != placement.CheckDone {
		return r.Found, time.Time{}
	}
	return r.Found, r.Ended
}
