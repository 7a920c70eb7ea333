package realsuite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// side is one of the clusters that walk.
type side struct {
	name   string
	client *mongo.Client
	db     string
}

// answered is what a cluster answered: a reply, an error of the server, or the rows of a dump.
type answered struct {
	reply  bson.RawValue
	failed *mongo.CommandError // the reply is its raw document then
}

func (s side) do(ctx context.Context, step walkStep) (answered, error) {
	if step.cmd == nil {
		return s.dump(ctx, strings.TrimPrefix(step.db, "config."))
	}
	raw, err := s.client.Database(step.db).RunCommand(ctx, step.cmd).Raw()
	var refused mongo.CommandError
	if errors.As(err, &refused) && refused.Raw != nil {
		return answered{document(refused.Raw), &refused}, nil
	}
	if raw != nil {
		return answered{reply: document(raw)}, nil // also when it has errors of single writes
	}
	return answered{}, err
}

func document(d bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d}
}

// dump reads what a config collection has about the walk's database, in an order that two clusters
// share: that of uuids is not.
func (s side) dump(ctx context.Context, name string) (answered, error) {
	filter, sort := bson.D{}, bson.D{{Key: "_id", Value: 1}}
	own := bson.Regex{Pattern: "^" + s.db + `(\.|$)`}
	switch name {
	case "databases", "collections":
		filter = bson.D{{Key: "_id", Value: own}}
	case "tags":
		filter, sort = bson.D{{Key: "ns", Value: own}}, bson.D{{Key: "ns", Value: 1}, {Key: "min", Value: 1}}
	case "changelog":
		filter, sort = bson.D{{Key: "ns", Value: own}}, bson.D{{Key: "time", Value: 1}}
	case "chunks":
		return s.dumpChunks(ctx)
	}
	cursor, err := s.client.Database("config").Collection(name).Find(ctx, filter, options.Find().SetSort(sort))
	if err != nil {
		return answered{}, err
	}
	return rowsOf(ctx, cursor)
}

// dumpChunks reads the chunks by collection, in the order of the collections' names.
func (s side) dumpChunks(ctx context.Context) (answered, error) {
	config := s.client.Database("config")
	cursor, err := config.Collection("collections").Find(ctx, bson.D{{Key: "_id", Value: bson.Regex{Pattern: "^" + s.db + `\.`}}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return answered{}, err
	}
	var colls []collection
	if err := cursor.All(ctx, &colls); err != nil {
		return answered{}, err
	}
	var rows []bson.Raw
	for _, c := range colls {
		// By uuid from 5.0 on, by name before.
		by := bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "uuid", Value: c.UUID}}, bson.D{{Key: "ns", Value: c.ID}}}}}
		cursor, err := config.Collection("chunks").Find(ctx, by, options.Find().SetSort(bson.D{{Key: "min", Value: 1}}))
		if err != nil {
			return answered{}, err
		}
		var some []bson.Raw
		if err := cursor.All(ctx, &some); err != nil {
			return answered{}, err
		}
		rows = append(rows, some...)
	}
	return asArray(rows)
}

func rowsOf(ctx context.Context, cursor *mongo.Cursor) (answered, error) {
	var rows []bson.Raw
	if err := cursor.All(ctx, &rows); err != nil {
		return answered{}, err
	}
	return asArray(rows)
}

func asArray(rows []bson.Raw) (answered, error) {
	t, value, err := bson.MarshalValue(append([]bson.Raw{}, rows...))
	return answered{reply: bson.RawValue{Type: t, Value: value}}, err
}

// walk sends the same seeded walk to the cluster and to a simulated one of its release and compares every
// reply. On a simulated cluster that shows the comparison itself.
func walk(w *world) {
	beside := target{release: releaseBeside(w), simulated: true}
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	w.removeZones() // a walk sees those of others too
	w.point("beside "+beside.name(), func(w *world) {
		for seed := range w.form.count(8, 2) {
			w.point(fmt.Sprintf("seed %d", seed+1), func(w *world) {
				first := w.connect(w.cluster.URI())
				second := w.connect(beside.start(w.TB, wanted{orphanDelay: shortOrphans}).URI())
				db := fmt.Sprintf("walk%d", seed+1)
				walkOn(w, uint64(seed+1), w.form.count(240, 90), side{w.target.name(), first, db}, side{beside.name(), second, db}, nil)
			})
		}
	})
}

// connect makes a client that adds nothing to the commands of a walk.
func (w *world) connect(uri string) *mongo.Client {
	w.Helper()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(uri)))
	w.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// removeZones removes all zones and their ranges.
func (w *world) removeZones() {
	w.Helper()
	for _, z := range documents[zoneRange](w, "tags", bson.D{}) {
		w.removeRange(z)
	}
	for _, s := range documents[shardEntry](w, "shards", bson.D{}) {
		for _, zone := range s.Tags {
			w.admin(bson.D{{Key: "removeShardFromZone", Value: s.ID}, {Key: "zone", Value: zone}})
		}
	}
}

// releaseBeside is the simulated release that stands for the cluster's.
func releaseBeside(w *world) string {
	if w.target.simulated {
		return w.target.release
	}
	line := w.target.servers.Line()
	for _, known := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		if line == known {
			return known
		}
	}
	w.Skipf("there is no simulated %s", line)
	return ""
}

// mostDifferences is how many differences are printed of one walk.
const mostDifferences = 40

// walkOn walks on one side, or on two and compares them. record, if not nil, gets each step of the first.
func walkOn(w *world, seed uint64, steps int, first, second side, record func(n int, s walkStep, a answered)) {
	w.Helper()
	leader := &world{TB: w.TB, data: first.client, cluster: w.cluster, target: w.target}
	by := &walker{rng: rand.New(rand.NewPCG(seed, 22)), db: first.db, shards: w.cluster.Shards(), chunks: leader.chunks}
	compare := newComparison(w, releaseBeside(w))
	n, differences := 0, 0
	do := func(s walkStep) {
		a, err := first.do(w.Context(), s)
		must.That(w, err == nil, "%d %s on %s: %v", n, s.note, first.name, err)
		if record != nil {
			record(n, s, a)
		}
		if second.client != nil {
			b, err := second.do(w.Context(), s)
			must.That(w, err == nil, "%d %s on %s: %v", n, s.note, second.name, err)
			for _, d := range compare.compare(nameOfStep(s), a.reply, b.reply) {
				differences++
				expect.That(w, differences > mostDifferences, "%d %s: %s", n, s.note, d)
			}
		}
		n++
	}
	for _, s := range by.begin() {
		do(s)
	}
	for i := range steps {
		do(by.step())
		if i%dumpEvery == dumpEvery-1 {
			for _, s := range dumps(fmt.Sprintf("step %d", i)) {
				do(s)
			}
		}
	}
	for _, s := range by.end() {
		do(s)
	}
	if differences > 0 {
		w.Logf("%d steps, %d differences", n, differences)
	}
}

func nameOfStep(s walkStep) string {
	if s.cmd == nil {
		return strings.TrimPrefix(s.db, "config.")
	}
	return s.cmd[0].Key
}

// line is one line of a recording.
type line struct {
	Cmd   json.RawMessage `json:"cmd,omitempty"`
	DB    string          `json:"db"`
	Error *lineError      `json:"error,omitempty"`
	Kind  string          `json:"kind"`
	N     int             `json:"n"`
	Note  string          `json:"note"`
	Reply json.RawMessage `json:"reply,omitempty"`
}

type lineError struct {
	Code     int32           `json:"code"`
	CodeName string          `json:"codeName"`
	Errmsg   string          `json:"errmsg"`
	Labels   []string        `json:"labels"`
	Raw      json.RawMessage `json:"raw"`
}

// lineOf is a step as a line of a recording, in canonical Extended JSON.
func lineOf(n int, s walkStep, a answered) ([]byte, error) {
	l := line{DB: s.db, Kind: "command", N: n, Note: s.note}
	if s.cmd == nil {
		l.Kind = "dump"
	} else {
		text, err := bson.MarshalExtJSON(s.cmd, true, false)
		if err != nil {
			return nil, err
		}
		l.Cmd = text
	}
	text, err := extendedValue(a.reply)
	if err != nil {
		return nil, err
	}
	if a.failed != nil {
		l.Error = &lineError{a.failed.Code, a.failed.Name, a.failed.Message, a.failed.Labels, text}
	} else {
		l.Reply = text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(l)
	return out.Bytes(), err
}

// extendedValue is a value in canonical Extended JSON.
func extendedValue(v bson.RawValue) ([]byte, error) {
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	if err != nil {
		return nil, err
	}
	return text[len(`{"v":`) : len(text)-1], nil
}

// TestRecordsAWalk is what make record runs: it walks on one cluster and writes what it answered.
func TestRecordsAWalk(t *testing.T) {
	path := os.Getenv(fileVariable)
	if path == "" {
		t.Skip("make record runs it: it writes a recording")
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 32)
	must.That(t, err == nil, "%s is %q: it needs a number", seedVariable, os.Getenv(seedVariable))
	all := targets(t)
	w := newWorld(t, all[len(all)-1], form{whole: true}, wanted{orphanDelay: shortOrphans})
	f, err := os.Create(path)
	w.must(err)
	steps := 0
	own := side{w.target.name(), w.connect(w.cluster.URI()), fmt.Sprintf("walk%d", seed)}
	walkOn(w, seed, 240, own, side{}, func(n int, s walkStep, a answered) {
		text, err := lineOf(n, s, a)
		w.must(err)
		w.must(must.Err(f.Write(text)))
		steps++
	})
	w.must(f.Close())
	t.Logf("%d steps of seed %d on MongoDB %s are in %s", steps, seed, w.cluster.Release(), path)
}
