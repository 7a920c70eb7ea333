package simcluster

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAnErrorEndsAnOperationAtItsStep(t *testing.T) {
	everyPoint(t, func(s *faultFixture, p FaultPoint) {
		db, cmd := s.commandChangingState(p.Command)
		before := s.state()
		rule := s.cluster.Faults().Add(Rule{Command: p.Command, At: p.At, Err: Fail(11602)})
		var failed mongo.CommandError
		if err := s.run(db, cmd); !errors.As(err, &failed) || failed.Code != 11602 || failed.Name != "InterruptedDueToReplStateChange" {
			s.t.Fatalf("answered %v", err)
		}
		if changed := s.state() != before; changed != p.Done {
			s.t.Errorf("changed: %v, the point says %v", changed, p.Done)
		}
		if rule.Struck() != 1 {
			s.t.Errorf("struck %d times, want 1", rule.Struck())
		}
		if n := len(s.cluster.Faults().Seen(p.Command)); n != 1 {
			s.t.Errorf("seen %d times, want 1", n)
		}
	})
}

func TestACutConnectionLeavesAMigrationRunning(t *testing.T) {
	everyPoint(t, func(s *faultFixture, p FaultPoint) {
		db, cmd := s.commandChangingState(p.Command)
		before := s.state()
		s.cluster.Faults().Add(Rule{Command: p.Command, At: p.At, Cut: true})
		if err := s.run(db, cmd); !mongo.IsNetworkError(err) {
			s.t.Fatalf("answered %v", err)
		}
		time.Sleep(time.Minute)
		migrating := (strings.HasPrefix(p.Command, "move") || p.Command == "unshardCollection") && p.At != Received && p.At != Targeted
		expect.Equal(s.t, s.state() != before, p.Done || migrating, "changed")
	})
}

func TestOperationContinuesAfterItsClientGotAnError(t *testing.T) {
	everyPoint(t, func(s *faultFixture, p FaultPoint) {
		db, cmd := s.commandChangingState(p.Command)
		before := s.state()
		s.cluster.Faults().Add(Rule{Command: p.Command, At: p.At, Err: Fail(189), GoOn: true})
		var failed mongo.CommandError
		if err := s.run(db, cmd); !errors.As(err, &failed) || failed.Code != 189 {
			s.t.Fatalf("answered %v", err)
		}
		time.Sleep(time.Minute)
		expect.That(s.t, s.state() != before, "the operation did not continue")
	})
}

// A cut TCP connection ends without an answer, not in the middle of one.
func TestCutFaultClosesTheSocket(t *testing.T) {
	c := emptyCluster(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = c.Serve(l) }()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + l.Addr().String() + "/?directConnection=true"))
	must.Do(t, err)
	defer client.Disconnect(t.Context())
	c.Faults().Add(Rule{Command: "addShardToZone", At: Replying, Cut: true})
	if err := client.Database("admin").RunCommand(t.Context(), d("addShardToZone", "shard-rs-1", "zone", "z")).
		Err(); !mongo.IsNetworkError(err) {
		t.Errorf("answered %v", err)
	}
	var row struct{ Tags []string }
	if err := client.Database("config").Collection("shards").FindOne(t.Context(), d("_id", "shard-rs-1")).
		Decode(&row); err != nil || !slices.Equal(row.Tags, []string{"z"}) {
		t.Errorf("%v, %v", row, err)
	}
}

// everyPoint runs a test for every fault point, each in its own synctest bubble.
func everyPoint(t *testing.T, run func(*faultFixture, FaultPoint)) {
	t.Helper()
	if n := len(FaultPoints()); n < 40 {
		t.Fatalf("only %d fault points", n)
	}
	for _, p := range FaultPoints() {
		t.Run(p.Command+"/"+string(p.At), func(t *testing.T) {
			inBubble(t, func(s *faultFixture) { run(s, p) }, func(o *Options) {
				switch p.Command {
				case "moveRange", "configureCollectionBalancing":
					o.ServerVersion = "6.0"
				case "moveCollection", "unshardCollection":
					o.ServerVersion, o.Reshard = "8.0", 2*time.Second
				case "startShardDraining", "stopShardDraining", "commitShardRemoval":
					o.ServerVersion = "8.3"
				}
			})
		})
	}
}

func TestRuleAppliesToTheOccurrencesItNames(t *testing.T) {
	ping := func(s *faultFixture) string {
		var out strings.Builder
		for range 6 {
			if err := s.run("admin", d("balancerStatus", 1)); err != nil {
				out.WriteByte('x')
			} else {
				out.WriteByte('.')
			}
			time.Sleep(time.Second)
		}
		return out.String()
	}
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{}, "x....."},
		{Rule{Nth: 3}, "..x..."},
		{Rule{Nth: 2, Times: 2}, ".xx..."},
		{Rule{Times: -1}, "xxxxxx"},
		{Rule{For: 2500 * time.Millisecond}, "xxx..."},
		{Rule{Nth: 2, For: 1500 * time.Millisecond}, ".xx..."},
		{Rule{NS: "app.c", Times: -1}, "......"},
		{Rule{Command: "listShards", Times: -1}, "......"},
		{Rule{Match: func(b bson.Raw) bool { return commandName(b) == "balancerStatus" }, Times: -1}, "xxxxxx"},
		{Rule{Match: func(b bson.Raw) bool { return b.Lookup("comment").Type != 0 }, Times: -1}, "......"},
	} {
		inBubble(t, func(s *faultFixture) {
			t := s.t
			c.rule.At, c.rule.Err = Received, Fail(46)
			rule := s.cluster.Faults().Add(c.rule)
			expect.Equal(t, ping(s), c.want, "%+v", c.rule)
			if n := rule.Struck(); n != strings.Count(c.want, "x") {
				t.Errorf("%+v: struck %d times", c.rule, n)
			}
			s.cluster.Faults().Heal()
			expect.NoError(t, s.run("admin", d("balancerStatus", 1)), "healed")
		})
	}
}

func TestCommandsAreSeenAtTheWire(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		f := s.cluster.Faults()
		if n := len(f.Seen()); n != 0 {
			t.Fatalf("%d commands of the process itself, want 0", n)
		}
		db, cmd := s.commandChangingState("split")
		must.Do(t, s.run(db, append(cmd, d("comment", "run 7")...)))
		must.Do(t, s.run("config", d("find", "chunks")))
		seen := f.Seen()
		if len(seen) != 1 || seen[0].Name != "split" || seen[0].NS != "app.c" || seen[0].Comment.StringValue() != "run 7" ||
			seen[0].Body.Lookup("middle", "p").Int32() != 150 {
			t.Errorf("seen %+v", seen)
		}
	})
}
