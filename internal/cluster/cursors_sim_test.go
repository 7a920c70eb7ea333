package cluster_test

import (
	"context"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// standingCursors are the comments of the idle cursors on the shards, sorted.
func standingCursors(t *testing.T, sim *simcluster.Cluster) (comments []string) {
	t.Helper()
	of := bson.D{{Key: "allUsers", Value: true}, {Key: "idleCursors", Value: true}}
	reply, err := sim.Command(t.Context(), "admin", bson.D{{Key: "aggregate", Value: 1}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$currentOp", Value: of}},
			bson.D{{Key: "$match", Value: bson.D{{Key: "type", Value: "idleCursor"}}}}}}})
	must.Do(t, err)
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	for _, row := range rows {
		comment, _ := row.Document().Lookup("cursor", "originatingCommand", "comment").StringValueOK()
		comments = append(comments, comment)
	}
	slices.Sort(comments)
	return comments
}

// leaveCursor opens a cursor on a shard, as a read does that nobody waits for.
func leaveCursor(t *testing.T, sim *simcluster.Cluster, session byte, comment string) {
	t.Helper()
	id := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: slices.Repeat([]byte{session}, 16)}
	_, err := sim.Command(t.Context(), "db", bson.D{{Key: "find", Value: "rows"}, {Key: "batchSize", Value: 1},
		{Key: "lsid", Value: bson.D{{Key: "id", Value: id}}}, {Key: "comment", Value: comment}})
	must.Do(t, err)
}

// lookLog has when a client looked at open cursors.
type lookLog struct {
	mu sync.Mutex
	at []time.Time
}

func (l *lookLog) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if strings.Contains(e.Command.String(), "idleCursors") {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.at = append(l.at, time.Now())
		}
	}}
}

func (l *lookLog) times() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.at)
}

// onRows runs a test on a simulated cluster with a few rows.
func onRows(t *testing.T, o cluster.Options, test func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true}))
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		for i := range 5 {
			if _, err := sim.Command(t.Context(), "db", bson.D{{Key: "insert", Value: "rows"},
				{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: i}}}}}); err != nil {
				t.Fatal(err)
			}
		}
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		o.Dialer = sim
		c := must.Get(cluster.Connect(t.Context(), uri, o))
		defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
		test(t, sim, c)
	})
}

// What a process that was killed left on the shards is ended by the next one. The cursors of another replica that
// lives, of another installation and of other programs stay. Then nobody looks any more, until a process has gone.
func TestCursorsOfAPredecessorAreEnded(t *testing.T) {
	var looks lookLog
	o := cluster.Options{Monitor: looks.monitor(), Reader: cluster.Reader{Installation: "here", Process: "this"}}
	onRows(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client) {
		ours := []string{"shardboard reads here/before", "shardboard reads here/replica", "shardboard reads here/this"}
		others := []string{"", "shardboard reads /alone", "shardboard reads elsewhere/before", "the shardboard reads here/before"}
		for i, comment := range append(ours, others...) {
			leaveCursor(t, sim, byte(i+1), comment)
		}
		var mu sync.Mutex
		living := []string{"this", "replica"}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		sim.Faults().Freeze("shard-rs-1") // every look fails at first
		go func() {
			done <- c.EndLeftCursors(ctx, func(context.Context) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(living), nil
			})
		}()
		time.Sleep(35 * time.Second)
		sim.Faults().Thaw("shard-rs-1")
		time.Sleep(15 * time.Second)
		want := slices.Sorted(slices.Values(append(ours[1:], others...)))
		expect.EqualSlices(t, standingCursors(t, sim), want, "cursors that stand")
		time.Sleep(30 * time.Second)
		n := len(looks.times())
		if time.Sleep(5 * time.Minute); len(looks.times()) != n {
			t.Errorf("%d looks while nothing could be left", len(looks.times())-n)
		}
		mu.Lock()
		living = living[:1]
		mu.Unlock()
		if time.Sleep(25 * time.Second); !slices.Contains(standingCursors(t, sim), ours[1]) {
			t.Error("the cursor of a replica was ended that could not show for some seconds that it lives")
		}
		time.Sleep(40 * time.Second)
		if got := standingCursors(t, sim); slices.Contains(got, ours[1]) || !slices.Contains(got, ours[2]) {
			t.Errorf("after the other replica has gone these cursors stand: %q", got)
		}
		all := looks.times()
		for i, at := range all[1:] {
			expect.That(t, at.Sub(all[i]) >= 10*time.Second, "two looks within %s", at.Sub(all[i]))
		}
		if cancel(); !errors.Is(<-done, context.Canceled) {
			t.Error("it ended before its context")
		}
	})
}

// A cursor that stands although the session of its read was killed is found by a look and ended, and so is one of a
// read that was answered, once nothing of ours can use it.
func TestCursorsThatStillStandAfterTheirSessionsWereKilledAreEnded(t *testing.T) {
	var looks lookLog
	var mu sync.Mutex
	monitor := looks.monitor()
	started := monitor.Started
	var session bson.Raw
	monitor.Started = func(ctx context.Context, e *event.CommandStartedEvent) {
		if started(ctx, e); e.CommandName == "find" {
			if got, want := e.Command.Lookup("comment").StringValue(), "shardboard reads here/this"; got != want {
				t.Errorf("a read has the comment %q", got)
			}
			mu.Lock()
			defer mu.Unlock()
			session = slices.Clone(e.Command.Lookup("lsid").Document())
		}
	}
	o := cluster.Options{Monitor: monitor, Reader: cluster.Reader{Installation: "here", Process: "this"}}
	onRows(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client) {
		leaveCursor(t, sim, 0, "shardboard reads here/this")
		giveUpOne := func() (lost bson.Raw) {
			hung := sim.Faults().Add(simcluster.Rule{Command: "find", NS: "config.shards", At: simcluster.Received, Hold: true})
			defer hung.Remove()
			short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			must.That(t, must.Err(c.Shards(short)) != nil, "a held read was answered")
			mu.Lock()
			defer mu.Unlock()
			return session
		}
		id := giveUpOne()
		if time.Sleep(8 * time.Second); len(looks.times()) > 0 {
			t.Error("a look before the kills were done")
		}
		if _, err := sim.Command(t.Context(), "db", bson.D{{Key: "find", Value: "rows"}, {Key: "batchSize", Value: 1},
			{Key: "lsid", Value: id}, {Key: "comment", Value: "shardboard reads here/this"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		if got := standingCursors(t, sim); len(got) != 1 {
			t.Errorf("these cursors stand: %q, want only the one that could still be in use", got)
		}
		time.Sleep(time.Minute)
		giveUpOne()
		time.Sleep(40 * time.Second)
		expect.Len(t, standingCursors(t, sim), 0, "these cursors stand")
		n := len(looks.times())
		if time.Sleep(5 * time.Minute); len(looks.times()) != n || n > 8 {
			t.Errorf("%d looks, and %d more while nothing could be left", n, len(looks.times())-n)
		}
	})
}

// Reads that are given up all the time, as when pages are closed early, do not keep those that follow from being
// killed.
func TestSessionsAreKilledWhileMoreReadsAreGivenUp(t *testing.T) {
	var mu sync.Mutex
	var session bson.Raw
	killed := map[string]int{}
	most := 0
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		mu.Lock()
		defer mu.Unlock()
		switch e.CommandName {
		case "find":
			session = slices.Clone(e.Command.Lookup("lsid").Document())
		case "killSessions":
			ids, _ := e.Command.Lookup("killSessions").Array().Values()
			most = max(most, len(ids))
			for _, id := range ids {
				killed[string(id.Document())]++
			}
		}
	}}
	onRows(t, cluster.Options{Monitor: monitor}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client) {
		var lost []string
		for range 1500 {
			hung := sim.Faults().Add(simcluster.Rule{Command: "find", NS: "config.shards", At: simcluster.Received, Hold: true})
			short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			must.That(t, must.Err(c.Shards(short)) != nil, "a held read was answered")
			cancel()
			hung.Remove()
			mu.Lock()
			lost = append(lost, string(session))
			mu.Unlock()
		}
		time.Sleep(20 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, id := range lost {
			if n := killed[id]; n != 3 {
				t.Fatalf("the session of read %d was killed %d times, want 3", i, n)
			}
		}
		expect.That(t, most <= 100, "%d sessions in one command, and a read was given up every 0.3 s", most)
	})
}

// A program that keeps a query open holds up the deletion of what moves meanwhile. The table names the program, its
// host, the shard and the age, without what it asked for, and the command that it gives ends the wait.
func TestTableSaysWhoHoldsUpADeletion(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		o := simcluster.Options{ServerVersion: version, Still: true, Projects: 3, Documents: 30}
		simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
			ns := topology.Namespace("yorkie-meta.documents")
			client := must.Get(mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(c.Cluster).SetAppName("report-job").
				SetServerMonitoringMode("poll")))
			defer func() { _ = client.Disconnect(t.Context()) }()
			cur := must.Get(client.Database("yorkie-meta").Collection("documents").Find(t.Context(),
				bson.D{{Key: "key", Value: bson.D{{Key: "$ne", Value: "canary"}}}}, options.Find().SetBatchSize(1)))
			opened := time.Now()
			if !cur.Next(t.Context()) {
				t.Fatal(cur.Err())
			}
			monitor := &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
				expect.Lacks(t, e.Reply.String(), "canary", "what the query asks for was read: %s", e.Reply)
			}}
			reader := must.Get(cluster.Connect(t.Context(), must.Get(cluster.ParseURI(simcluster.URI())),
				cluster.Options{Dialer: c.Cluster, Monitor: monitor}))
			defer func() { _ = reader.Close(t.Context()) }()
			open, at, err := reader.OpenCursors(t.Context())
			must.That(t, err == nil && len(open) != 0 && !at.Before(opened), "%d cursors at %s, %v", len(open), at, err)
			if k := open[0]; k.NS != ns || k.App != "report-job" || k.Client == "" || strings.Contains(k.Client, ":") || k.ID == 0 ||
				len(k.Session.ID) != 16 || len(k.Session.User) != 32 || k.Opened.Sub(opened).Abs() > time.Second {
				t.Errorf("%+v", k)
			}
			time.Sleep(time.Minute)
			from := c.Watcher.Table().Collection(ns).Chunks.Owner(0)
			c.MoveFirst(t, ns)
			time.Sleep(time.Minute)
			held := c.Watcher.Table().HeldOn(from, ns)
			if len(held) != 1 || held[0].Count != 1 || held[0].Unsure || !strings.HasPrefix(held[0].Text().String(),
				"The old documents of yorkie-meta.documents wait for 1 open cursor of report-job on "+from+", of ") {
				t.Fatalf("%s: held up: %+v", version, held)
			}
			command := held[0].EndCommands()[0].Text
			parts := regexp.MustCompile(`^db\.adminCommand\(\{killSessions: \[\{id: UUID\("([-0-9a-f]{36})"\)\}\]\}\)$`).FindStringSubmatch(command)
			must.That(t, parts != nil, "the command is %s", command)
			id := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: must.Get(hex.DecodeString(strings.ReplaceAll(parts[1], "-", "")))}
			c.Do(t, "admin", bson.D{{Key: "killSessions", Value: bson.A{bson.D{{Key: "id", Value: id}}}}})
			time.Sleep(6 * time.Minute)
			if d := c.Watcher.Table().Deletions; len(d.Held) != 0 || d.Reason != "" {
				t.Errorf("%s: after the command: %+v", version, d)
			}
		})
	}
}

// A read that is given up while a server hangs may open its cursor later. Its session is killed, more than once,
// because the server may carry the read out after the first time, and no later read uses it.
func TestSessionsOfReadsThatWereGivenUpAreKilled(t *testing.T) {
	var mu sync.Mutex
	var read, killed []string
	monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		mu.Lock()
		defer mu.Unlock()
		switch e.CommandName {
		case "find":
			read = append(read, e.Command.Lookup("lsid", "id").String())
		case "killSessions":
			ids, _ := e.Command.Lookup("killSessions").Array().Values()
			for _, id := range ids {
				killed = append(killed, id.Document().Lookup("id").String())
			}
		}
	}}
	onRows(t, cluster.Options{Monitor: monitor}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client) {
		must.Do(t, must.Err(c.Shards(t.Context())))
		hung := sim.Faults().Add(simcluster.Rule{Command: "find", NS: "config.shards", At: simcluster.Received, Hold: true})
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		must.That(t, must.Err(c.Shards(short)) != nil, "a held read was answered")
		mu.Lock()
		lost := read[len(read)-1]
		mu.Unlock()
		hung.Remove()
		for range 20 {
			must.Do(t, must.Err(c.Shards(t.Context())))
			time.Sleep(time.Second)
		}
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, id := range killed {
			expect.That(t, id == lost, "the session %s was killed, and its read had been answered", id)
			n++
		}
		expect.That(t, n >= 2 && n <= 4, "the session was killed %d times in 20 s, want 2 to 4", n)
		expect.That(t, !slices.Contains(read[len(read)-20:], lost), "the session of the lost read was used again")
	})
}
