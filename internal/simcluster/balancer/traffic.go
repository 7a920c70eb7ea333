package balancer

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"shardboard/internal/simcluster/catalog"
)

// Traffic lets every round find something: besides what the policy names, a round
// moves chunks of these collections, chosen by the seed. It stands for a cluster whose
// balancer is never done. All other rules hold: a round moves nothing while the balancer
// is off, a shard takes part in one migration at a time, chunks stay inside of their
// zones, and a collection that may not be balanced is left alone.
type Traffic struct {
	Namespaces []string      // whose chunks move; none means every collection
	Pause      time.Duration // between rounds that moved something; 0 means the balancer's own
	Seed       uint64

	rng   *rand.Rand
	moved atomic.Int64
}

// Moved is how many chunks were moved on behalf of this traffic.
func (t *Traffic) Moved() int { return int(t.moved.Load()) }

// SetTraffic gives the balancer something to do from its next round on, which it begins
// after a pause as after a round that moved something. It replaces what was set before.
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

// ClearTraffic ends a traffic, unless another has taken its place, and waits for the
// round that may still move something for it.
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

// Prompt makes the balancer's migrations delete the donor's copy before they end, as the
// setting _waitForDelete does, until it is called with false as often as with true.
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
	return b.opts.Busy
}

// pick names the moves of one round, at most one for each collection, on shards that no
// other move uses: one that is refused would make the balancer wait for ten seconds. The
// catalogue is locked.
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
