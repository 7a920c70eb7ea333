package replay

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// observation is one line of the recording of a client that polled a working cluster: a
// command, an observation, or log entries read afterwards.
type observation struct {
	Did, Saw, Log, Note, DB, What, NS string

	Cmd, Reply, Details bson.Raw
	Ops, Docs           []bson.Raw
	N                   int
	T                   int64
	Chunk               bson.Raw
}

func readObservations(t *testing.T, name string) (out []observation) {
	t.Helper()
	for line, err := range Lines(filepath.Join("..", "testdata", "recordings", name+".jsonl.gz")) {
		var s observation
		if err == nil {
			err = bson.Unmarshal(line, &s)
		}
		must.Do(t, err)
		out = append(out, s)
	}
	return out
}

// chance matches values that differ between any two clusters.
var chance = []string{"currentOpTime", "opid", "microsecs_running", "secs_running", "host", "configdb", "numYields",
	"txnNumber", "_id", "millis", "uuid", "timestamp"}

// withoutRandomValues describes a document without random values: field names with
// values in order, numbers without their type.
func withoutRandomValues(name string, v bson.RawValue) string {
	if slices.Contains(chance, name) && v.Type != bson.TypeEmbeddedDocument {
		return "*"
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		var parts []string
		list, _ := v.Document().Elements()
		for _, e := range list {
			parts = append(parts, e.Key()+": "+withoutRandomValues(e.Key(), e.Value()))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bson.TypeArray:
		var parts []string
		list, _ := v.Array().Values()
		for i, e := range list {
			// Only the first part of a chunk version is a number.
			if (name == "shardVersion" || name == "chunkVersion") && i > 0 {
				parts = append(parts, e.Type.String())
				continue
			}
			parts = append(parts, withoutRandomValues("", e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case bson.TypeObjectID:
		if name == "epoch" {
			return "*"
		}
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		n, _ := v.AsFloat64OK()
		return fmt.Sprint(n)
	case bson.TypeString:
		if name == "desc" {
			return regexp.MustCompile(`^conn\d+$`).ReplaceAllString(v.StringValue(), "conn")
		}
	}
	return v.String()
}

func withoutRandomFields(d bson.Raw) string {
	return withoutRandomValues("", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d})
}

// During manual moves, balancer moves, movePrimary and draining, every recorded row of $currentOp
// and config.migrations of a real 5.0.7 appears here too, except for times and names.
func TestRunningMigrationLooksAsOnTheRealServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, "inflight", simcluster.Options{Empty: true, Seed: 2, Epoch: time.Unix(1795343086, 0)})
		defer p.close()
		p.cluster.Start(t.Context())
		p.reconnectAs("mongosh 2.12.0")
		w := &watcher{p: p}
		looked := 0
		list := readObservations(t, "inflight")
		for i, s := range list {
			switch {
			case s.Did != "":
				if s.Did == "split" && list[i-1].Did != "split" {
					w.insertRecordedDocuments()
				}
				p.replayObservation(s)
			case strings.HasPrefix(s.Note, "a move by hand"):
				moved := make(chan bson.Raw, 1)
				go func() {
					moved <- p.run("admin", bson.D{{Key: "moveChunk", Value: "yorkie-meta.documents"},
						{Key: "bounds", Value: bson.A{bound(1), bound(2)}}, {Key: "to", Value: "shard-rs-2"}})
				}()
				begun := time.Now()
				w.pollUntil(func() bool { return len(moved) == 1 })
				if took := time.Since(begun); took < 600*time.Millisecond || took > 900*time.Millisecond {
					t.Errorf("8,000 documents moved in %s, want %v to %v", took, 600*time.Millisecond, 900*time.Millisecond)
				}
				if reply := <-moved; !ok(reply) {
					t.Errorf("%s", reply)
				}
			case strings.HasPrefix(s.Note, "movePrimary of a database"):
				w.movePrimary()
			case s.Saw != "":
				looked += w.compareObservation(list, i)
			}
			switch {
			case s.Did != "balancerStart":
			case list[i+1].Saw == "currentOp":
				w.pollUntil(func() bool { return w.chunksOn("shard-rs-3") == 3 })
			default:
				w.pollUntil(func() bool { return w.chunksOn("shard-rs-2") == 0 })
			}
		}
		expect.That(t, looked >= 34, "%d rows compared, want at least 34", looked)
		expect.That(t, w.grew, "the recipient's count never grew while documents were copied")
	})
}

// bound returns a bound of the recorded collection: a project's number, or one of the
// ends.
func bound(n byte) bson.D {
	return bson.D{{Key: "project_id", Value: bson.ObjectID{0x65, 11: n}}}
}

// reconnectAs reconnects with an application name.
func (p *player) reconnectAs(app string) {
	p.t.Helper()
	must.Do(p.t, p.client.Disconnect(p.t.Context()))
	var err error
	p.client, err = mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetAppName(app).SetDialer(p.cluster).
		SetServerMonitoringMode("poll"))
	must.Do(p.t, err)
}

// replayObservation runs a recorded command and compares the reply, without random values.
func (p *player) replayObservation(s observation) {
	p.t.Helper()
	got := without(p.run(s.DB, s.Cmd), "$clusterTime", "operationTime")
	if g, w := withoutRandomFields(got), withoutRandomFields(s.Reply); g != w {
		p.t.Errorf("%s %s\n got  %s\n want %s", s.Did, s.Cmd, g, w)
	}
}

// watcher polls a cluster.
type watcher struct {
	p    *player
	seen map[string]bool
	last int64 // documents on the recipient of the first move
	grew bool
}

// insertRecordedDocuments inserts the recorded documents: 8,000 of 1,075 bytes, or one
// more, for each of four projects.
func (w *watcher) insertRecordedDocuments() {
	w.p.t.Helper()
	for project := byte(1); project <= 4; project++ {
		docs := make([]any, 8000)
		for i := range docs {
			d := bson.D{{Key: "_id", Value: bson.ObjectID{project, 10: byte(i >> 8), 11: byte(i)}},
				{Key: "project_id", Value: bson.ObjectID{0x65, 11: project}}, {Key: "pad", Value: ""}}
			raw, _ := bson.Marshal(d)
			d[2].Value = strings.Repeat("x", 1075+i%5/4-len(raw))
			docs[i] = d
		}
		must.Do(w.p.t, must.Err(w.p.client.Database("yorkie-meta").Collection("documents").InsertMany(w.p.t.Context(), docs)))
	}
}

// movePrimary moves the recorded database, whose collection has 8,000 documents of 1 KB.
func (w *watcher) movePrimary() {
	p := w.p
	p.t.Helper()
	p.mustRun("admin", bson.D{{Key: "enableSharding", Value: "other"}, {Key: "primaryShard", Value: "shard-rs-3"}})
	p.insertNumbered("other", "t", 8000, 1075)
	moved := make(chan bson.Raw, 1)
	go func() {
		moved <- p.run("admin", bson.D{{Key: "movePrimary", Value: "other"}, {Key: "to", Value: "shard-rs-1"}})
	}()
	begun := time.Now()
	w.pollUntil(func() bool { return len(moved) == 1 })
	if took := time.Since(begun); took < 450*time.Millisecond || took > 900*time.Millisecond {
		p.t.Errorf("movePrimary of 8,000 documents took %s, want 450ms to 900ms", took)
	}
	if reply := <-moved; !ok(reply) {
		p.t.Errorf("%s", reply)
	}
}

// chunksOn counts the chunks of a shard in all collections.
func (w *watcher) chunksOn(shard string) int {
	reply := w.p.mustRun("config", bson.D{{Key: "count", Value: "chunks"}, {Key: "query", Value: bson.D{{Key: "shard", Value: shard}}}})
	n, _ := reply.Lookup("n").AsInt64OK()
	return int(n)
}

// pollUntil polls every 5 ms until a condition holds; each observation replaces the
// previous one.
func (w *watcher) pollUntil(so func() bool) {
	w.p.t.Helper()
	w.seen = make(map[string]bool)
	for begun := time.Now(); !so(); time.Sleep(5 * time.Millisecond) {
		must.That(w.p.t, time.Since(begun) <= time.Minute, "the awaited condition was not reached")
		for _, row := range w.rows("config", bson.D{{Key: "find", Value: "migrations"}}) {
			w.seen[withoutRandomFields(row)] = true
		}
		for _, row := range w.rows("admin", bson.D{
			{Key: "aggregate", Value: 1},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true},
				{Key: "localOps", Value: false}}}}}}, {Key: "cursor", Value: bson.D{}},
		}) {
			w.seen[withoutRandomFields(row)] = true
			if desc, _ := row.Lookup("desc").StringValueOK(); desc == "MigrationCoordinator" {
				w.observeRecipient()
			}
		}
	}
}

// observeRecipient looks at how many documents the recipient has.
func (w *watcher) observeRecipient() {
	coll := w.p.cluster.Catalog()
	coll.Mu.RLock()
	defer coll.Mu.RUnlock()
	if on := coll.Shards["shard-rs-2"].Coll("yorkie-meta", "documents"); on != nil && w.last < 8000 {
		n := int64(on.Len())
		w.grew = w.grew || w.last > 0 && n > w.last
		w.last = n
	}
}

func (w *watcher) rows(db string, cmd bson.D) (out []bson.Raw) {
	values, _ := w.p.mustRun(db, cmd).Lookup("cursor", "firstBatch").Array().Values()
	for _, v := range values {
		out = append(out, v.Document())
	}
	return out
}

// compareObservation compares a recorded observation with ours and returns the number
// of compared rows.
func (w *watcher) compareObservation(list []observation, i int) (compared int) {
	w.p.t.Helper()
	s := list[i]
	for _, row := range slices.Concat(s.Ops, s.Docs) {
		want := withoutRandomFields(row)
		compared++
		if w.seen[want] {
			continue
		}
		var near []string
		head, _, _ := strings.Cut(want, ", active")
		for seen := range w.seen {
			if strings.HasPrefix(seen, head) {
				near = append(near, seen)
			}
		}
		w.p.t.Errorf("at %d ms: nothing is like\n%s\nbut\n%s", s.T, want, strings.Join(near, "\n"))
	}
	return compared
}
