package balancer

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"shardboard/internal/simcluster/catalog"
)

// Traffic simulates a balancer that always has work: in addition to the moves of the
// policy, every round moves chunks of these collections, chosen by the seed. All other
// rules apply: no moves while the balancer is off, one migration per shard at a time,
// chunks stay in their zones, and collections with balancing disabled are skipped.
type Traffic struct {
	Namespaces []string      // collections whose chunks move; empty means all
	Pause      time.Duration // between rounds that moved something; 0 means the balancer's own
	Seed       uint64

	rng   *rand.Rand
	moved atomic.Int64
}

// Moved is how many chunks were moved on behalf of this traffic.
func (t *Traffic) Moved() int { return int(t.moved.Load()) }

// SetTraffic sets the traffic from the next round on, which starts after the pause of a
// round with moves. It replaces an earlier traffic.
func (b *Balancer) SetTraffic(t *Traffic) {
	t.rng = rand.New(rand.NewPCG(t.Seed, 0x7aff))
	b.cluster.Mu.Lock()
	b.traffic = t
	b.cluster.Mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// ClearTraffic removes a traffic, unless it was replaced, and waits for the current
// round.
func (b *Balancer) ClearTraffic(t *Traffic) {
	b.cluster.Mu.Lock()
	if b.traffic == t {
		b.traffic = nil
	}
	done := b.cluster.RoundDone()
	b.cluster.Mu.Unlock()
	if done != nil {
		<-done
	}
}

// Prompt makes the balancer's migrations delete orphans before they end, like the
// setting _waitForDelete, until it is called with false as often as with true.
func (b *Balancer) Prompt(on bool) {
	if on {
		b.prompt.Add(1)
	} else {
		b.prompt.Add(-1)
	}
}

// busy is the wait after a round that moved something.
func (b *Balancer) busy() time.Duration {
	b.cluster.Mu.RLock()
	defer b.cluster.Mu.RUnlock()
	if b.traffic != nil && b.traffic.Pause > 0 {
		return b.traffic.Pause
	}
	return b.paced(busyWait)
}

// pick chooses the moves of one round, at most one per collection, on shards that no
// other move uses: a refused move would delay the next round by ten seconds. The caller
// holds Mu.
func (t *Traffic) pick(c *catalog.Cluster, round []catalog.Candidate) (list []catalog.Candidate) {
	if t == nil {
		return nil
	}
	used := make(map[string]bool)
	for _, m := range c.Migrations() {
		used[m.From], used[m.To] = true, true
	}
	for _, m := range round {
		used[m.From], used[m.To] = true, true
	}
	names := t.Namespaces
	if len(names) == 0 {
		names = c.Namespaces()
	}
	for _, i := range t.rng.Perm(len(names)) {
		if r := c.Routing(names[i]); r == nil || !r.Balanced() {
			continue
		}
		if m, ok := c.AnyMove(names[i], used, t.rng.IntN); ok {
			list = append(list, m)
		}
	}
	return list
}
