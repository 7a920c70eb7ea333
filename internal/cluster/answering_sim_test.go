package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	fixture "shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// asking keeps what was asked.
type asking struct {
	*cluster.Client
	mu   sync.Mutex
	asks []ask
}

type ask struct {
	ns     topology.Namespace
	filter bson.D
}

func (a *asking) Ask(ctx context.Context, ns topology.Namespace, filter bson.D, hint bson.Raw, secondary bool) error {
	a.mu.Lock()
	if len(filter) > 0 {
		a.asks = append(a.asks, ask{ns, filter})
	}
	a.mu.Unlock()
	return a.Client.Ask(ctx, ns, filter, hint, secondary)
}

// Each shard is asked for a row that mongos looks for on this shard alone.
func TestShardsAreAskedOneByOne(t *testing.T) {
	for _, o := range []simcluster.Options{
		{ServerVersion: "5.0", Still: true, Shards: 4, Projects: 3, Documents: 30},
		{ServerVersion: "8.0", Still: true, Shards: 4, Projects: 3, Documents: 30},
	} {
		simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
			src := &asking{Client: c.Client}
			w := topology.NewWatcher(src, topology.Options{})
			ctx, stop := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = w.Run(ctx) })
			time.Sleep(15 * time.Second)
			stop()
			done.Wait()
			a := w.Table().Answering
			var targets []string
			for _, ask := range src.asks {
				shards := fixture.Get(c.Client.TargetShards(t.Context(), ask.ns, ask.filter))
				expect.Equal(t, len(shards), 1, "%v asks %v", ask, shards)
				targets = append(targets, shards...)
			}
			slices.Sort(targets)
			if targets = slices.Compact(targets); len(targets) != 4 || len(a.Shards) != 4 {
				t.Errorf("asked are %v: %+v", targets, a)
			}
			for name, s := range a.Shards {
				expect.Equal(t, s.State, topology.Answers, "%s: %+v", name, s)
			}
		})
	}
}

// Whatever hangs is named within 20 s, nothing else is, and it is over when it answers.
func TestWhatDoesNotAnswerIsNamed(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "8.0"} {
		o := simcluster.Options{ServerVersion: version, Still: true, Projects: 3, Documents: 30}
		simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
			silent := func() (out []string) {
				a := c.Watcher.Table().Answering
				for name, s := range a.Shards {
					if s.State == topology.Silent {
						out = append(out, name)
					}
				}
				if a.Config.State == topology.Silent {
					out = append(out, "config")
				}
				slices.Sort(out)
				return out
			}
			time.Sleep(time.Minute)
			for _, member := range []string{"shard-rs-2", "config", "shard-rs-1"} {
				froze := time.Now()
				c.Faults().Freeze(member)
				time.Sleep(20 * time.Second)
				if got := silent(); !slices.Equal(got, []string{member}) {
					t.Fatalf("%s: with %s frozen %v are silent", version, member, got)
				}
				a := c.Watcher.Table().Answering
				which := a.Shards[member]
				if member == "config" {
					which = a.Config
				}
				if ago := froze.Sub(which.Since); ago < 0 || ago > 10*time.Second || which.Said == "" {
					t.Errorf("%s: %s is silent since %s before it froze: %s", version, member, ago, which.Said)
				}
				if !slices.ContainsFunc(a.Sets, func(s topology.ReplicaSet) bool { return !s.HasPrimary() }) {
					t.Errorf("%s: mongos knows all primaries: %+v", version, a.Sets)
				}
				c.Faults().Thaw(member)
				time.Sleep(30 * time.Second)
				if got := silent(); len(got) != 0 {
					t.Errorf("%s: after %s answered, %v are silent", version, member, got)
				}
			}
			if _, ok := c.Watcher.Table().ConfigSet(); !ok {
				t.Error("the config servers' replica set is not known")
			}
		})
	}
}

// One answer that is lost is no silence.
func TestOneLostAnswerIsNoSilence(t *testing.T) {
	o := simcluster.Options{Still: true, Projects: 3, Documents: 30}
	simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
		time.Sleep(5 * time.Second) // the turns are at full ten seconds
		for i := range 9 {
			lost := c.Faults().Add(simcluster.Rule{Command: "find", Nth: i%3 + 1, At: simcluster.Received, Err: simcluster.Fail(202),
				Match: func(cmd bson.Raw) bool { return cmd.Lookup("maxTimeMS").AsInt64() == 1500 }})
			time.Sleep(10 * time.Second)
			if len(c.Faults().Hits()) != i+1 {
				t.Fatalf("%d answers of %d were lost", len(c.Faults().Hits()), i+1)
			}
			lost.Remove()
			for name, s := range c.Watcher.Table().Answering.Shards {
				expect.Equal(t, s.State, topology.Answers, "%s: %+v", name, s)
			}
		}
	})
}
