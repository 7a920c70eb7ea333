package catalog

import (
	"context"
	"time"
)

// pingEvery is how often mongos writes its row to config.mongos
// (s/sharding_uptime_reporter.cpp).
const pingEvery = 10 * time.Second

// Run does the servers' periodic work except balancing: it deletes due orphans, creates
// the sessions collection, and updates the router's ping in config.mongos. It returns
// when ctx ends.
func (c *Cluster) Run(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.Mu.Lock()
			c.PingRouter()
			c.CleanOrphans()
			c.setUpSessions()
			c.Mu.Unlock()
		}
	}
}
