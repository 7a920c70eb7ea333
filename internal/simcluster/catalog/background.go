package catalog

import (
	"context"
	"time"
)

// pingEvery is how often a router reports itself (s/sharding_uptime_reporter.cpp).
const pingEvery = 10 * time.Second

// Run does what servers do on their own besides balancing: it deletes orphans when
// they are due, makes the collection of sessions, and keeps the router's ping in
// config.mongos fresh. It returns when ctx ends.
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
