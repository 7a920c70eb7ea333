package simcluster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestFaultsArePlantedOverTheWire(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		fault := func(pairs ...any) bson.Raw {
			t.Helper()
			reply, err := s.client.Database("admin").RunCommand(t.Context(), d(pairs...)).Raw()
			must.Do(t, err)
			return reply
		}
		id := fault("simulateFault", "add", "command", "split", "at", "committing", "hold", true, "code", 46, "message",
			"busy").Lookup("id").Int32()
		db, cmd := s.commandChangingState("split")
		answer := make(chan error, 1)
		go func() { answer <- s.run(db, append(cmd, d("comment", "held")...)) }()
		time.Sleep(time.Second)
		shown := fault("simulateFault", "show")
		if n := shown.Lookup("rules", "0", "struck").Int32(); n != 1 || shown.Lookup("seen", "0", "comment").StringValue() != "held" {
			t.Errorf("shown %s", shown)
		}
		fault("simulateFault", "remove", "id", id)
		var failed mongo.CommandError
		if err := <-answer; !errors.As(err, &failed) || failed.Code != 46 || !strings.HasSuffix(failed.Message, "busy") {
			t.Errorf("answered %v", err)
		}
		fault("simulateFault", "add", "command", "split", "at", "received",
			"other", d("db", "admin", "command", d("addShardToZone", "shard-rs-3", "zone", "raced")))
		expect.NoError(t, s.run(db, cmd), "run")
		expect.Contains(t, s.state(), "raced", "the other client's command had no effect")
		fault("simulateFault", "freeze", "member", "config")
		expect.That(t, s.run("admin", d("listShards", 1, "maxTimeMS", 100)) != nil, "a frozen config server answered")
		fault("simulateFault", "heal")
		expect.NoError(t, s.run("admin", d("listShards", 1)), "run")
	}, func(o *Options) { o.FaultCommand = true })
}

func TestMisspeltFaultsAreRefused(t *testing.T) {
	c := emptyCluster(t, func(o *Options) { o.FaultCommand = true })
	client := connect(t, c)
	for _, cmd := range []bson.D{
		d("simulateFault", "plant"),
		d("simulateFault", 1),
		d("simulateFault", "add", "command", "split", "at", "cloning"),
		d("simulateFault", "add", "command", "split", "at", "commiting"),
		d("simulateFault", "add", "command", "split", "at", "committing", "delay", 5),
		d("simulateFault", "add", "command", "split", "at", "committing", "delayMS", "long"),
		d("simulateFault", "remove", "id", 77),
		d("simulateFault", "freeze", "member", "shard-rs-9"),
	} {
		if err := client.Database("admin").RunCommand(t.Context(), cmd).Err(); err == nil {
			t.Errorf("the invalid command %v was accepted", cmd)
		}
	}
	expect.Equal(t, c.faults.armed.Load(), 0, "faults are armed")
}

func TestFaultCommandIsDisabledByDefault(t *testing.T) {
	client := connect(t, emptyCluster(t))
	var failed mongo.CommandError
	if err := client.Database("admin").RunCommand(t.Context(), d("simulateFault", "show")).Err(); !errors.As(err, &failed) ||
		failed.Code != 59 {
		t.Errorf("answered %v", err)
	}
}

// mongos shows a command from its arrival on, even when its client has disconnected.
func TestCurrentOpShowsABlockedCommand(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		rule := s.cluster.Faults().Add(Rule{Command: "split", At: Received, Hold: true})
		ended := make(chan error, 1)
		go func() {
			ended <- s.run("admin", d("split", "app.c", "middle", d("p", int32(150)), "comment", "mine"))
		}()
		<-rule.Reached()
		shown := func() (n int) {
			reply := mustRun(t, s.cluster, "admin", d("currentOp", 1))
			rows, _ := reply.Lookup("inprog").Array().Values()
			for _, r := range rows {
				if comment, ok := r.Document().Lookup("command", "comment").StringValueOK(); ok && comment == "mine" {
					n++
				}
			}
			return n
		}
		if n := shown(); n != 1 {
			t.Errorf("shown %d times, want 1", n)
		}
		rule.Remove()
		expect.NoError(t, <-ended, "the end")
		synctest.Wait()
		if n := shown(); n != 0 {
			t.Errorf("shown %d times after its end, want 0", n)
		}
	})
}
