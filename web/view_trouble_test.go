package web

import (
	"errors"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// troubled breaks what can be broken.
func troubled(t *topology.Table) {
	t.Shards[1].Draining = true
	t.Shards[0].Zones = []string{"eu"}
	t.Balancer.Stopped, t.Balancer.InRound = true, false
	docs := *t.Collection("yorkie-meta.documents")
	docs.NoBalance, docs.MigrationsBlocked = true, true
	var rows []topology.Chunk
	for i, ch := range docs.Chunks.All() {
		ch.Jumbo = i == 3 || i == 4
		rows = append(rows, ch)
	}
	docs.Chunks = must(topology.BuildChunks(docs.Key, rows))
	for i, c := range t.Collections {
		if c.NS == docs.NS {
			t.Collections[i] = &docs
		}
	}
	zone := func(c *topology.Collection, name string, from, to int) topology.ZoneRange {
		lo, hi := c.Chunks.At(from).Min, c.Chunks.At(to).Min
		return topology.ZoneRange{NS: c.NS, Zone: name, Min: lo, Max: hi, RawMin: must(c.Key.Document(lo)), RawMax: must(c.Key.Document(hi))}
	}
	t.Zones = []topology.ZoneRange{zone(&docs, "eu", 2, 6), zone(&docs, "mars", 8, 9)}
	t.Health[topology.PartBalancer] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "clusterMonitor (balancerStatus)"}
	t.Health[topology.PartEvents] = topology.Health{
		At:  epoch.Add(-90 * time.Second),
		Err: fault.New(fault.Unavailable, "The config servers did not answer within 10 s."),
	}
	t.Balancer.StatusKnown = false
	t.Routers = append(t.Routers, topology.Router{Host: "mongos-1:27017", Version: "5.0.6", Ping: epoch.Add(-20 * time.Minute)})
	big := t.Sizes["yorkie-meta.snapshot_bodies"]
	big.Shards = map[string]topology.Size{t.Primary("yorkie-meta"): size(8_000_000_000, 310)}
	t.Sizes["yorkie-meta.snapshot_bodies"] = big
}
