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
)

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
	approval    engine.ApprovalOptions
}

// newEngine makes the engine, the only part that changes the cluster. Its Serve must run for the
// life of the program.
func newEngine(p engineParts) *engine.Engine {
	return engine.New(engine.Options{
		Admin: p.client, Reader: p.client,
		Journal: p.store, Audit: p.store, Tables: p.watcher, Directory: p.keeper, Profile: p.profile,
		Shared: sharedIDs{
			p.duplicates,
		}, Counter: p.client, Writes: p.writes, Recent: p.recent, Sizes: p.sizes, Indexes: p.client, Latencies: p.client,
		Log: p.log, Now: p.now, Maintenance: p.maintenance,
		Rounds: p.client, Approval: p.approval,
	})
}

// wireActions makes the engine and what depends on it. With actions off there is none, and web has no route that
// changes the cluster.
func (p *clusterParts) wireActions(c ClusterConfig, client *cluster.Client, prof *profile.Profile, approvers engine.Approvers) {
	if !c.Actions {
		return
	}
	p.engineParts = engineParts{client: client, watcher: p.watcher, keeper: p.keeper, duplicates: p.duplicates,
		profile: prof, store: p.store, writes: writeRates{p.heat}, recent: recentWrites{p.heat, client}, sizes: p.sizes, log: c.Log,
		maintenance: c.Maintenance, approval: c.Approval.options()}
	p.engineParts.approval.Approvers = approvers
	p.engine = newEngine(p.engineParts)
	p.pins = &pinIndex{runs: p.engine, tables: p.watcher, log: c.Log}
	p.outcomes = outcome.New(outcome.Options{Runs: p.engine, Tables: p.watcher, Profile: prof, Store: p.store, Log: c.Log})
	p.heat.OnSlot(p.outcomes.Take)
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
