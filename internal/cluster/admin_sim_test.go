package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
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
			Min: document(t, bson.D{{Key: "p", Value: bson.MinKey{}}}), Max: document(t, bson.D{{Key: "p", Value: bson.MaxKey{}}})})
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
		if fault.Of(err) != fault.UnknownOutcome {
			t.Fatalf("%v", err)
		}
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
		if err := change.Send(ctx, c, "", m); fault.Of(err) != fault.UnknownOutcome {
			t.Errorf("cancelled: %v", err)
		}
		time.Sleep(time.Minute) // the move continues
		m.Shard = "shard-rs-3"
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := change.Send(ctx, c, "", m); fault.Of(err) != fault.UnknownOutcome {
			t.Errorf("out of time: %v", err)
		}
	})
}

func TestUnsentCommandIsReportedAsWithoutEffect(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, line *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step) {
		line.set(true)
		_, err := c.Shards(t.Context()) // makes the driver notice the dead connection
		if fault.Of(err) != fault.Unavailable {
			t.Fatal(err)
		}
		if err := change.Send(t.Context(), c, "", m); fault.Of(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := change.Send(ctx, c, "", m); err == nil || fault.Of(err) == fault.UnknownOutcome {
			t.Errorf("%v", err)
		}
		if sent := moves.of("moveChunk"); len(sent) != 0 {
			t.Errorf("sent: %v", sent)
		}
	})
}

func TestRefusalQuotesTheServer(t *testing.T) {
	withCuttableDialer(t, func(t *testing.T, _ *cuttableDialer, c *cluster.Client, moves *counter, m operation.Step) {
		m.Shard = "nowhere"
		err := change.Send(t.Context(), c, "", m)
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), "shard does not exist") {
			t.Errorf("%v", err)
		}
		sent := moves.of("moveChunk")
		if len(sent) != 1 {
			t.Fatalf("sent %d times", len(sent))
		}
		if ms, ok := sent[0].Lookup("maxTimeMS").AsInt64OK(); !ok || ms <= 0 || ms > m.TimeLimit().Milliseconds() {
			t.Errorf("no deadline in %v", sent[0])
		}
		if _, err := sent[0].LookupErr("comment"); err == nil {
			t.Errorf("a comment in %v", sent[0])
		}
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
					if len(sent) != 1 || sent[0].DB != want.DB {
						t.Fatalf("%s: sent %v, shown %v", s.Op, sent, want)
					}
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
