package cluster_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// withCuttableDialer connects through a cuttableDialer to a cluster with a chunk whose
// move takes seconds.
func withCuttableDialer(
	t *testing.T,
	test func(t *testing.T, line *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step),
) {
	onSim(t, simcluster.Options{Empty: true, Pace: 100}, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		line, moves := &cuttableDialer{sim: sim}, &counter{}
		c, end := connectBy(t, cluster.Options{Dialer: line, Monitor: moves.monitor()})
		defer end()
		must.Do(t, change.Send(t.Context(), c, "", operation.Step{Op: operation.OpBalancerOff}))
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "app.users"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}}))
		test(t, line, c, moves, operation.Step{Op: operation.OpMove, NS: "app.users", Shard: "shard-rs-2",
			Min: document(bson.D{{Key: "p", Value: bson.MinKey{}}}), Max: document(bson.D{{Key: "p", Value: bson.MaxKey{}}})})
	})
}

// The check is made when the connection is there: making one takes a while, and a process can be
// stopped meanwhile.
func TestCommandIsNotWrittenWhenTheLastCheckFails(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true}, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		line := &cuttableDialer{sim: sim}
		c, end := connectBy(t, cluster.Options{Dialer: line})
		defer end()
		stopped := sim.Faults().Add(simcluster.Rule{Command: "balancerStop", At: simcluster.Received, Hold: true})
		tooLate, checks := errors.New("too late"), 0
		ctx := operation.CheckBeforeSending(t.Context(), func() error {
			checks++
			return tooLate
		})
		if err := change.Send(ctx, c, "run-1", operation.Step{Op: operation.OpBalancerOff}); !errors.Is(err, tooLate) || checks != 1 {
			t.Errorf("%v after %d checks", err, checks)
		}
		if n := stopped.Struck(); n > 0 {
			t.Errorf("the server got %d commands", n)
		}
		stopped.Remove()
		must.Do(t, change.Send(operation.CheckBeforeSending(t.Context(), func() error { return nil }), c, "run-2",
			operation.Step{Op: operation.OpBalancerOff}))
	})
}

func TestCommandOnABrokenConnectionIsNotSentAgainAndItsOutcomeIsUnknown(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, line *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step) {
		done := make(chan error)
		go func() { done <- change.Send(t.Context(), c, "run-7", m) }()
		time.Sleep(20 * time.Millisecond)
		line.set(true)
		err := <-done
		must.That(t, fault.Of(err) == fault.UnknownOutcome, "%v", err)
		line.set(false)
		if sent := moves.of("moveChunk"); len(sent) != 1 {
			t.Fatalf("sent %d times", len(sent))
		} else if got, _ := sent[0].Lookup("comment").StringValueOK(); got != "run-7" {
			t.Errorf("comment %q in %v", got, sent[0])
		}
	})
}

func TestAbandonedCommandHasAnUnknownOutcome(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, _ *cuttableDialer, c *cluster.Client, _ *counter, m operation.Step) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		refused.As(t, change.Send(ctx, c, "", m), fault.UnknownOutcome, "cancelled")
		time.Sleep(time.Minute) // the move continues
		m.Shard = "shard-rs-3"
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		refused.As(t, change.Send(ctx, c, "", m), fault.UnknownOutcome, "out of time")
	})
}

func TestUnsentCommandIsReportedAsWithoutEffect(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, line *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step) {
		line.set(true)
		_, err := c.Shards(t.Context()) // makes the driver notice the dead connection
		must.That(t, fault.Of(err) == fault.Unavailable, "%v", err)
		refused.As(t, change.Send(t.Context(), c, "", m), fault.Unavailable, "Send")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := change.Send(ctx, c, "", m); err == nil || fault.Of(err) == fault.UnknownOutcome {
			t.Errorf("%v", err)
		}
		expect.Len(t, moves.of("moveChunk"), 0, "sent")
	})
}

func TestRefusalQuotesTheServer(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, _ *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step) {
		m.Shard = "nowhere"
		err := change.Send(t.Context(), c, "", m)
		refused.With(t, err, fault.NotFound, "shard does not exist", "the end")
		sent := moves.of("moveChunk")
		must.That(t, len(sent) == 1, "sent %d times", len(sent))
		if ms, ok := sent[0].Lookup("maxTimeMS").AsInt64OK(); !ok || ms <= 0 || ms > m.TimeLimit().Milliseconds() {
			t.Errorf("no deadline in %v", sent[0])
		}
		expect.That(t, must.Err(sent[0].LookupErr("comment")) != nil, "a comment in %v", sent[0])
	})
}

// A sent command is the command of the step, followed by the comment, the time limit and
// the driver's fields.
func TestTheCommandOfAStepIsSent(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0.9", "8.0.12", "8.3"} {
		t.Run(release, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, line *counter) {
				info, err := c.Server(t.Context())
				must.Do(t, err)
				line.commands()
				for _, s := range change.Every() {
					want, err := s.Command(balance.ReleaseOf(info.Version))
					redistributes := s.Reshard != nil && s.Reshard.WasKey != nil
					if s.Days != "" && release != "8.3" || redistributes && release < "8.0" {
						continue // refused
					}
					must.Do(t, err)
					_ = s.Send(t.Context(), c, "the run", want) // refused or not
					sent := line.commands()
					must.That(t, len(sent) == 1 && sent[0].DB == want.DB, "%s: sent %v, shown %v", s.Op, sent, want)
					body := want.Doc[4 : len(want.Doc)-1]
					if !slices.Equal(body, sent[0].Doc[4:4+len(body)]) {
						t.Errorf("%s: sent %v, shown %v", s.Op, sent[0].Doc, want.Doc)
					}
					rest, err := bson.Raw(sent[0].Doc).Elements()
					must.Do(t, err)
					own, err := want.Doc.Elements()
					must.Do(t, err)
					for _, e := range rest[len(own):] {
						if !slices.Contains([]string{"comment", "maxTimeMS", "lsid", "$db", "$clusterTime", "$readPreference", "txnNumber"}, e.Key()) {
							t.Errorf("%s: %s was sent and not shown", s.Op, e)
						}
					}
				}
			})
		})
	}
}

// makeDividedCollection makes a collection on two shards with several chunks, zones and
// a jumbo flag.
func makeDividedCollection(t *testing.T, sim *simcluster.Cluster, key bson.D, at func(any) bson.Raw) {
	t.Helper()
	admin := func(cmd bson.D) { t.Helper(); must.Do(t, run(t, sim, "admin", cmd)) }
	admin(bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}})
	admin(bson.D{{Key: "shardCollection", Value: "app.users"}, {Key: "key", Value: key}})
	for _, n := range []int{0, 10, 20} {
		admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: at(n)}})
	}
	admin(bson.D{{Key: "moveChunk", Value: "app.users"}, {Key: "bounds", Value: bson.A{at(10), at(20)}}, {Key: "to", Value: "shard-rs-2"}})
	admin(bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}})
	admin(bson.D{{Key: "updateZoneKeyRange", Value: "app.users"}, {Key: "min", Value: at(0)},
		{Key: "max", Value: at(10)}, {Key: "zone", Value: "eu"}})
}

// Facts read from the cluster equal those of a table loaded at the same time: plans are
// made from the table and verified with the facts.
func TestFactsReadFromTheClusterEqualTheTable(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "8.0"} {
		for _, key := range []bson.D{{{Key: "p", Value: 1}}, {{Key: "p", Value: 1}, {Key: "q", Value: "hashed"}}} {
			t.Run(release, func(t *testing.T) {
				cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
				onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
					at := func(n any) bson.Raw {
						d := bson.D{{Key: "p", Value: n}}
						if len(key) > 1 {
							d = append(d, bson.E{Key: "q", Value: bson.MinKey{}})
						}
						if _, ok := n.(bson.MaxKey); ok && len(key) > 1 {
							d[1].Value = n
						}
						return document(d)
					}
					makeDividedCollection(t, sim, key, at)
					table, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
					must.Do(t, err)
					for _, f := range everyFact(at) {
						got, err := c.ReadFact(t.Context(), f)
						must.Do(t, err)
						if want := operation.Fields(table, f); !maps.Equal(got, want) {
							t.Errorf("%s %v %v: read %v, the table says %v", f.Kind, f.Min, f.Max, got, want)
						}
					}
				})
			})
		}
	}
}

func everyFact(at func(any) bson.Raw) (out []operation.Fact) {
	const ns = "app.users"
	ends := []any{bson.MinKey{}, -5, 0, 5, 10, 20, 25, bson.MaxKey{}}
	for i, lo := range ends {
		out = append(out, operation.Fact{Kind: operation.FactEdge, NS: ns, Min: at(lo)})
		for _, hi := range ends[i+1:] {
			for _, kind := range []operation.FactKind{operation.FactChunk, operation.FactCover, operation.FactZoneRange, operation.FactZoneFree} {
				out = append(out, operation.Fact{Kind: kind, NS: ns, Min: at(lo), Max: at(hi)})
			}
			for _, shard := range []string{"shard-rs-1", "shard-rs-2", "none"} {
				out = append(out, operation.Fact{Kind: operation.FactHeld, NS: ns, Min: at(lo), Max: at(hi), Shard: shard})
			}
		}
	}
	for _, shard := range []string{"shard-rs-1", "shard-rs-2", "none"} {
		out = append(out, operation.Fact{Kind: operation.FactShard, Shard: shard},
			operation.Fact{Kind: operation.FactShardZone, Shard: shard, Zone: "eu"})
	}
	return append(out, operation.Fact{Kind: operation.FactBalancer}, operation.Fact{Kind: operation.FactCollection, NS: ns},
		operation.Fact{Kind: operation.FactCollection, NS: "no.such"},
		operation.Fact{Kind: operation.FactChunk, NS: "no.such", Min: at(0), Max: at(10)})
}

func TestMigrationIsShownWhileItRunsAndLoggedAfterwards(t *testing.T) {
	for _, release := range []string{"5.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				at := func(n any) bson.Raw { return document(bson.D{{Key: "p", Value: n}}) }
				makeDividedCollection(t, sim, bson.D{{Key: "p", Value: 1}}, at)
				time.Sleep(time.Minute)
				must.Do(t, must.Err(c.Server(t.Context())))
				s := operation.Step{Op: operation.OpMove, NS: "app.users", Min: at(0), Max: at(10), Shard: "shard-rs-1"}
				other := s
				other.Min = at(20)
				// The zone would keep the chunk on the first shard.
				must.Do(t, change.Send(t.Context(), c, "", operation.Step{Op: operation.OpRemoveRange, NS: s.NS, Min: at(0), Max: at(10)}))
				s.Shard = "shard-rs-3"
				rule := sim.Faults().Add(simcluster.Rule{Command: "move", At: simcluster.Cloning, Hold: true})
				begun := time.Now()
				done := make(chan error)
				go func() { done <- change.Send(t.Context(), c, "r", s) }()
				<-rule.Reached()
				trace, err := c.Trace(t.Context(), "r", s, begun)
				must.Do(t, err)
				// The donor shows no step while the recipient copies data.
				expect.That(t, trace.Running && !trace.Ended && trace.Steps == 6 && trace.Step == 3, "while it runs: %+v", trace)
				next := sim.Faults().Add(simcluster.Rule{Command: "move", At: simcluster.Committing, Hold: true})
				rule.Remove()
				<-next.Reached()
				rule = next
				if trace, err = c.Trace(t.Context(), "r", s, begun); err != nil || trace.Steps != 6 || trace.Step != 5 {
					t.Errorf("before its commit: %v %+v", err, trace)
				}
				if trace, err = c.Trace(t.Context(), "other", other, begun); err != nil || trace.Running {
					t.Errorf("another chunk's: %v %+v", err, trace)
				}
				a, err := c.Activity(t.Context(), nil)
				must.Do(t, err)
				if !a.Known || len(a.Migrations) != 1 || a.Migrations[0].From != "shard-rs-1" ||
					a.Migrations[0].To != "shard-rs-3" || a.Migrations[0].NS != s.NS {
					t.Errorf("%+v", a)
				}
				rule.Remove()
				must.Do(t, <-done)
				if trace, err = c.Trace(t.Context(), "r", s, begun); err != nil || trace.Running || !trace.Ended || len(trace.Events) == 0 {
					t.Errorf("after it: %v %+v", err, trace)
				}
				if a, err = c.Activity(t.Context(), nil); err != nil || len(a.Migrations) != 0 {
					t.Errorf("%v %+v", err, a.Migrations)
				}
				found := false
				for _, u := range a.Cleanups {
					found = found || u.Shard == "shard-rs-1" && string(u.Min) == string(s.Min) && u.Until.After(time.Now())
				}
				expect.That(t, found, "no clean-up pending: %+v", a.Cleanups)
			})
		})
	}
}
