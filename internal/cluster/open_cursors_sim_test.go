package cluster_test

import (
	"context"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	fixture "shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// A program that keeps a query open holds up the deletion of what moves meanwhile. The table names the program, its
// host, the shard and the age, without what it asked for, and the command that it gives ends the wait.
func TestTableSaysWhoHoldsUpADeletion(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		o := simcluster.Options{ServerVersion: version, Still: true, Projects: 3, Documents: 30}
		simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
			ns := topology.Namespace("yorkie-meta.documents")
			client := fixture.Get(mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(c.Cluster).SetAppName("report-job").
				SetServerMonitoringMode("poll")))
			defer func() { _ = client.Disconnect(t.Context()) }()
			cur := fixture.Get(client.Database("yorkie-meta").Collection("documents").Find(t.Context(),
				bson.D{{Key: "key", Value: bson.D{{Key: "$ne", Value: "canary"}}}}, options.Find().SetBatchSize(1)))
			opened := time.Now()
			if !cur.Next(t.Context()) {
				t.Fatal(cur.Err())
			}
			monitor := &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
				expect.Lacks(t, e.Reply.String(), "canary", "what the query asks for was read: %s", e.Reply)
			}}
			reader := fixture.Get(cluster.Connect(t.Context(), fixture.Get(cluster.ParseURI(simcluster.URI())),
				cluster.Options{Dialer: c.Cluster, Monitor: monitor}))
			defer func() { _ = reader.Close(t.Context()) }()
			open, at, err := reader.OpenCursors(t.Context())
			if err != nil || len(open) == 0 || at.Before(opened) {
				t.Fatalf("%d cursors at %s, %v", len(open), at, err)
			}
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
			if parts == nil {
				t.Fatalf("the command is %s", command)
			}
			id := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: fixture.Get(hex.DecodeString(strings.ReplaceAll(parts[1], "-", "")))}
			c.Do(t, "admin", bson.D{{Key: "killSessions", Value: bson.A{bson.D{{Key: "id", Value: id}}}}})
			time.Sleep(6 * time.Minute)
			if d := c.Watcher.Table().Deletions; len(d.Held) != 0 || d.Reason != "" {
				t.Errorf("%s: after the command: %+v", version, d)
			}
		})
	}
}
