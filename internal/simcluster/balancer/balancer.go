// Package balancer runs the rounds of the config server's balancer: a round splits
// chunks at zone boundaries, then moves the chunks chosen by the policy, at most one
// migration per shard at a time. The policy is in package catalog; this package decides
// when rounds run, handles failed moves and writes the log entries
// (db/s/balancer/balancer.cpp, MongoDB 5.0).
package balancer

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// How long the balancer waits between rounds: shorter when the last one moved
// something. A round whose only move failed counts as one without moves.
const (
	idleWait = 10 * time.Second
	busyWait = time.Second
)

// surveyTime is the time before the moves of a round, in which it reads metadata and
// shard statistics. With a small migration a round then takes 0.4 s and starts 1.4 s
// after the previous one, as observed.
const surveyTime = 150 * time.Millisecond

// sendTime is the delay between the moves of one round, which are sent one after the
// other.
const sendTime = 10 * time.Millisecond

// Options configure the rounds.
type Options struct {
	Pace float64 // multiplies the waits between rounds; 0 means 1
	Seed uint64  // determines the order of collections in a round
}

// Balancer balances one cluster. Make it with New.
type Balancer struct {
	cluster *catalog.Cluster
	opts    Options
	rng     *rand.Rand
	merged  time.Time     // when the AutoMerger last looked
	traffic *Traffic      // guarded by cluster.Mu; nil: only moves of the policy
	prompt  atomic.Int32  // number of callers that want orphans to be deleted at once
	wake    chan struct{} // starts the next round early
}

// New makes a balancer that does nothing before Run.
func New(c *catalog.Cluster, o Options) *Balancer {
	o.Pace = cmp.Or(o.Pace, 1)
	return &Balancer{cluster: c, opts: o, rng: rand.New(rand.NewPCG(o.Seed, 0xba1a)), wake: make(chan struct{}, 1)}
}

// Run runs rounds until ctx ends. A running migration continues; it ends with the
// cluster.
func (b *Balancer) Run(ctx context.Context) {
	wait := b.paced(busyWait)
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
			wait = b.busy()
			continue
		case <-time.After(wait):
		}
		wait = b.paced(idleWait)
		if b.Round(ctx) > 0 {
			wait = b.busy()
		}
	}
}

// Round runs one round if the settings allow it and returns how many chunks it moved.
func (b *Balancer) Round(ctx context.Context) (moved int) {
	c := b.cluster
	c.Mu.Lock()
	if !c.Settings().Balancing(c.Now()) {
		c.Mu.Unlock()
		return 0
	}
	begun := c.Now()
	end := c.BeginRound()
	defer func() {
		c.Mu.Lock()
		end()
		c.Mu.Unlock()
	}()
	c.Mu.Unlock()
	if !pause(ctx, c.Paced(surveyTime)) {
		return 0
	}
	c.Mu.Lock()
	if !c.Settings().Balancing(c.Now()) { // the balancer was stopped during the round
		c.Mu.Unlock()
		return 0
	}
	// A real AutoMerger merges across bounds of zones, which the balancer cuts again some seconds later; here a round ends
	// with both done.
	b.autoMerge()
	failed := b.cut()
	c.Defragment()
	force, wait := c.Settings().ForceJumbo, c.Settings().WaitDelete || b.prompt.Load() > 0
	list := b.pick()
	found := len(list)
	list = append(list, b.traffic.pick(c, list)...)
	traffic := b.traffic
	c.Mu.Unlock()

	results := make([]error, len(list))
	var moves sync.WaitGroup
	for i, m := range list {
		moves.Go(func() {
			if pause(ctx, c.Paced(time.Duration(i)*sendTime)) {
				results[i] = b.move(ctx, m, force, wait)
			} else {
				results[i] = ctx.Err()
			}
		})
	}
	moves.Wait()
	for i, err := range results {
		if err == nil {
			moved++
			if i >= found {
				traffic.moved.Add(1)
			}
		}
	}
	b.report(begun, len(list), moved, failed)
	return moved
}

// pause waits and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// cut splits chunks at zone boundaries, and the sessions collection. The caller holds
// Mu.
func (b *Balancer) cut() (failed error) {
	for _, ns := range b.namespaces() {
		for _, s := range b.cluster.ZoneSplits(ns) {
			if err := b.cluster.SplitChunk(ns, s.Min, s.Points); err != nil {
				failed = err
			}
		}
	}
	if err := b.cluster.SplitSessions(); err != nil {
		failed = err
	}
	return failed
}

// pick chooses the round's moves over all collections in random order. It does not
// consider other clients' migrations; conflicting moves are refused later. The caller
// holds Mu.
func (b *Balancer) pick() []catalog.Candidate {
	names := b.namespaces()
	b.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	used := make(map[string]bool)
	var list []catalog.Candidate
	for _, ns := range names {
		list = append(list, b.cluster.Candidates(ns, used)...)
	}
	return list
}

// namespaces are the collections that may be balanced.
func (b *Balancer) namespaces() []string {
	var names []string
	for _, ns := range b.cluster.Namespaces() {
		if b.cluster.Routing(ns).Balanced() {
			names = append(names, ns)
		}
	}
	return names
}

// move runs one migration. A chunk that is too big is split if possible, otherwise
// marked jumbo, so that later rounds skip it.
func (b *Balancer) move(ctx context.Context, m catalog.Candidate, force, wait bool) error {
	// Big chunks of a draining shard are moved with force.
	o := catalog.MoveOptions{ForceJumbo: force || m.Reason == catalog.Draining, WaitForDelete: wait}
	var err error
	if b.cluster.MovesRanges() {
		err = b.cluster.MoveRange(ctx, m.NS, m.Min, m.To, o)
	} else {
		err = b.cluster.Move(ctx, m.NS, m.Min, m.Max, m.To, o)
	}
	if e := status.Of(err); e != nil && (e.Code == status.ChunkTooBig || e.Code == status.ExceededMemoryLimit) {
		b.cluster.Mu.Lock()
		defer b.cluster.Mu.Unlock()
		if err := b.cluster.SplitOrMark(m.NS, m.Min); err != nil {
			return err
		}
	}
	return err
}

// report writes balancer.round, but only for a round with moves or errors.
func (b *Balancer) report(begun time.Time, candidates, moved int, failed error) {
	if candidates == 0 && failed == nil {
		return
	}
	c := b.cluster
	c.Mu.Lock()
	defer c.Mu.Unlock()
	took := int32(c.Now().Sub(begun).Milliseconds())
	occurred, times := "errorOccured", bson.D(nil)
	if c.TimesRounds() { // since 7.0, spelled correctly and with durations
		occurred, times = "errorOccurred", value.D("imbalancedCachedCollections", int32(0), "times",
			value.D("selectionTimeMillis", int32(0), "throttleTimeMillis", int32(0), "migrationTimeMillis", took))
	}
	result := value.D("candidateChunks", int32(candidates), "chunksMoved", int32(moved), times)
	if failed != nil {
		result = value.D("errmsg", failed.Error())
	}
	c.LogAction("balancer.round", value.D("executionTimeMillis", took, occurred, failed != nil, result))
}

// mergeEvery is the interval of the AutoMerger of 7.0 (autoMergerIntervalSecs).
const mergeEvery = time.Hour

// autoMerge runs the AutoMerger when it is due. It merges nothing while the balancer is
// off or outside of its window. The caller holds Mu.
func (b *Balancer) autoMerge() {
	now := b.cluster.Now()
	if b.merged.IsZero() {
		b.merged = now // a new primary waits for one interval first
	}
	if now.Sub(b.merged) < b.paced(mergeEvery) {
		return
	}
	b.merged = now
	b.cluster.AutoMerge()
}

func (b *Balancer) paced(d time.Duration) time.Duration {
	return time.Duration(float64(d) * b.opts.Pace)
}

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
		if m, ok := c.AnyMove(names[i], used, false, t.rng.IntN); ok {
			list = append(list, m)
		}
	}
	return list
}
