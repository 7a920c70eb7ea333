package realsuite_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
	"shardboard/internal/simcluster/workload"
)

// world is one cluster, with what tests of one group share.
type world struct {
	testing.TB // a judged test
	t          *testing.T
	form       form
	target     target
	cluster    sharded
	data       *mongo.Client      // of a user with all privileges, past the proxy
	proxy      *realcluster.Proxy // on the product's way to the router
}

// newWorld starts a cluster for a group of tests. Its balancer is off.
func newWorld(t *testing.T, g target, f form, w wanted) *world {
	t.Helper()
	out := &world{TB: t, t: t, form: f, target: g, cluster: g.start(t, w)}
	var err error
	out.data = must.Get(mongo.Connect(options.Client().ApplyURI(out.cluster.URI()).SetTimeout(5 * time.Minute)))
	t.Cleanup(func() { _ = out.data.Disconnect(context.Background()) })
	out.proxy, err = realcluster.NewProxy(out.cluster.Address)
	must.Do(t, err)
	t.Cleanup(func() { _ = out.proxy.Close() })
	out.admin(bson.D{{Key: "balancerStop", Value: 1}})
	return out
}

// point runs one test of the group. It may be in the list of known failures.
func (w *world) point(name string, test func(w *world)) {
	w.t.Helper()
	w.t.Run(name, func(t *testing.T) {
		begun := time.Now()
		own := *w
		own.t, own.TB = t, judge(t, w.target.name())
		test(&own)
		t.Logf("%s took %s", name, time.Since(begun).Round(10*time.Millisecond))
	})
}

func (w *world) must(err error) {
	w.Helper()
	must.Do(w, err)
}

// admin runs a command that has to succeed.
func (w *world) admin(command bson.D) bson.Raw {
	w.Helper()
	raw, err := w.data.Database("admin").RunCommand(w.Context(), command).Raw()
	must.That(w, err == nil, "%v: %v", command, err)
	return raw
}

// productURI is the router's address for the product, through the proxy.
func (w *world) productURI() string {
	return strings.Replace(w.cluster.URI(), w.cluster.Address(), w.proxy.Address(), 1)
}

// serve starts the product on the cluster.
func (w *world) serve(more ...string) *dashboard {
	w.Helper()
	return serve(w.TB, w.productURI(), more...)
}

// load fills a database with Yorkie's data in one of its layouts.
func (w *world) load(database, layout string, projects, documents int) {
	w.Helper()
	_, err := workload.Load(w.Context(), &writer{w.Context(), w.data}, workload.Options{
		Seed:  int64(len(database)), // two databases have different ids
		Epoch: time.Now(), Layout: layout, Database: database, Projects: projects, Documents: documents,
		Shards: w.cluster.Shards(), KeepChunkSize: true, Now: time.Now,
	})
	w.must(err)
}

// writer sends the data to the cluster.
type writer struct {
	ctx    context.Context // of load: BulkInsert has none
	client *mongo.Client
}

func (x *writer) Command(ctx context.Context, db string, command any) (bson.Raw, error) {
	return x.client.Database(db).RunCommand(ctx, command).Raw()
}

func (x *writer) BulkInsert(ns string, docs []bson.Raw) error {
	db, name, _ := strings.Cut(ns, ".")
	for part := range slices.Chunk(docs, 1000) {
		if _, err := x.client.Database(db).Collection(name).InsertMany(x.ctx, part, options.InsertMany().SetOrdered(false)); err != nil {
			return err
		}
	}
	return nil
}

// chunk is a document of config.chunks.
type chunk struct {
	ID       bson.RawValue `bson:"_id"`
	Min, Max bson.Raw
	Shard    string
	Jumbo    bool
}

// collection is what the tests look at of a document of config.collections.
type collection struct {
	ID                   string      `bson:"_id"`
	UUID                 bson.Binary `bson:"uuid"`
	Key                  bson.D      `bson:"key"`
	DefragmentCollection bool        `bson:"defragmentCollection"`
	NoBalance            bool        `bson:"noBalance"`
	AllowMigrations      *bool       `bson:"allowMigrations"`
	PermitMigrations     *bool       `bson:"permitMigrations"` // the name in some releases before 6.0
	EnableAutoMerge      *bool       `bson:"enableAutoMerge"`
	MaxChunkSizeBytes    int64       `bson:"maxChunkSizeBytes"`
	Unsplittable         bool        `bson:"unsplittable"`
}

// majority reads the config server's data as its members have agreed on it.
func (w *world) config(name string) *mongo.Collection {
	return w.data.Database("config").Collection(name)
}

// collection reads a sharded collection; ok is false if there is none.
func (w *world) collection(ns string) (c collection, ok bool) {
	w.Helper()
	err := w.config("collections").FindOne(w.Context(), bson.D{{Key: "_id", Value: ns}}).Decode(&c)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return c, false
	}
	w.must(err)
	return c, true
}

// chunks reads the chunks of a collection in key order.
func (w *world) chunks(ns string) (all []chunk) {
	w.Helper()
	c, ok := w.collection(ns)
	must.That(w, ok, "%s is not sharded", ns)
	by := bson.D{{Key: "uuid", Value: c.UUID}}
	if w.before(5, 0) {
		by = bson.D{{Key: "ns", Value: ns}}
	}
	cursor, err := w.config("chunks").Find(w.Context(), by, options.Find().SetSort(bson.D{{Key: "min", Value: 1}}))
	w.must(err)
	w.must(cursor.All(w.Context(), &all))
	return all
}

// picture is the chunks of a collection as one text, to compare two moments.
func (w *world) picture(ns string) string {
	w.Helper()
	var b strings.Builder
	for _, c := range w.chunks(ns) {
		fmt.Fprintf(&b, "%s→%s ", c.Min, c.Shard)
	}
	return b.String()
}

// before reports whether the release is older.
func (w *world) before(major, minor int) bool {
	var a, b int
	_, err := fmt.Sscanf(w.cluster.Release(), "%d.%d", &a, &b)
	must.That(w, err == nil, "release %q: %v", w.cluster.Release(), err)
	return a < major || a == major && b < minor
}

// otherShard is a shard that is not the given one.
func (w *world) otherShard(than string) string {
	for _, s := range w.cluster.Shards() {
		if s != than {
			return s
		}
	}
	w.Fatal("there is one shard")
	return ""
}

// targets asks the router where a find goes.
func (w *world) targets(ctx context.Context, ns string, filter bson.D) ([]string, error) {
	db, name, _ := strings.Cut(ns, ".")
	var reply struct {
		QueryPlanner struct {
			WinningPlan struct {
				Shards []struct {
					ShardName string `bson:"shardName"`
				}
			} `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	err := w.data.Database(db).RunCommand(ctx, bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: name}, {Key: "filter", Value: filter}}},
		{Key: "verbosity", Value: "queryPlanner"},
	}).Decode(&reply)
	var names []string
	for _, s := range reply.QueryPlanner.WinningPlan.Shards {
		names = append(names, s.ShardName)
	}
	slices.Sort(names)
	return names, err
}

// move moves a chunk past the product, and again while its shards are busy.
func (w *world) move(ctx context.Context, ns string, c chunk, to string) error {
	return until(ctx, patience, func(ctx context.Context) error {
		return w.data.Database("admin").RunCommand(ctx, bson.D{{Key: "moveChunk", Value: ns},
			{Key: "bounds", Value: bson.A{c.Min, c.Max}}, {Key: "to", Value: to}, {Key: "_waitForDelete", Value: true}}).Err()
	})
}

// namespace is the collection of a name with its database.
func (w *world) namespace(ns string) *mongo.Collection {
	db, name, _ := strings.Cut(ns, ".")
	return w.data.Database(db).Collection(name)
}

// standIn is a test whose outcome another test looks at.
type standIn struct {
	testing.TB
	failed, skipped bool
	cleanups        []func()
}

func (s *standIn) Helper()               {}
func (s *standIn) Cleanup(f func())      { s.cleanups = append(s.cleanups, f) }
func (s *standIn) Logf(string, ...any)   {}
func (s *standIn) Error(...any)          { s.failed = true }
func (s *standIn) Errorf(string, ...any) { s.failed = true }
func (s *standIn) Fatal(...any)          { s.failed = true; runtime.Goexit() }
func (s *standIn) SkipNow()              { s.skipped = true; runtime.Goexit() }
func (s *standIn) Failed() bool          { return s.failed }
func (s *standIn) Skipped() bool         { return s.skipped }

// state is what changes can change, as the config server has it, as lines of text.
func (w *world) state(db string) string {
	w.Helper()
	var lines []string
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	var home struct{ Primary string }
	w.must(w.config("databases").FindOne(w.Context(), bson.D{{Key: "_id", Value: db}}).Decode(&home))
	add("primary %s", home.Primary)
	for _, c := range w.shardedOf(db) {
		key, _ := bson.MarshalExtJSON(c.Key, false, false)
		add("%s key %s balanced %v migrations %v merging %v chunks of %d defragmented %v", c.ID, key, !c.NoBalance,
			isOn(c.AllowMigrations) && isOn(c.PermitMigrations), isOn(c.EnableAutoMerge), c.MaxChunkSizeBytes, c.DefragmentCollection)
		for _, ch := range w.chunks(c.ID) {
			add("%s %s on %s jumbo %v", c.ID, ch.Min, ch.Shard, ch.Jumbo)
		}
	}
	for _, z := range documents[zoneRange](w, "tags", bson.D{{Key: "ns", Value: bson.Regex{Pattern: "^" + db + `\.`}}}) {
		add("%s %s to %s in zone %s", z.NS, z.Min, z.Max, z.Tag)
	}
	for _, s := range documents[shardEntry](w, "shards", bson.D{}) {
		slices.Sort(s.Tags)
		add("shard %s zones %v draining %v", s.ID, s.Tags, s.Draining)
	}
	for _, s := range documents[struct {
		Stopped      bool
		Mode         string
		ActiveWindow bson.Raw `bson:"activeWindow"`
	}](w, "settings", bson.D{{Key: "_id", Value: "balancer"}}) {
		add("balancer off %v window %s", s.Stopped || s.Mode == "off", s.ActiveWindow)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// zoneRange is what the tests look at of a document of config.tags.
type zoneRange struct {
	NS, Tag  string
	Min, Max bson.Raw
}

// shardEntry is what the tests look at of a document of config.shards.
type shardEntry struct {
	ID       string `bson:"_id"`
	Tags     []string
	Draining bool
}

func (w *world) removeRange(z zoneRange) {
	w.Helper()
	w.admin(bson.D{{Key: "updateZoneKeyRange", Value: z.NS}, {Key: "min", Value: z.Min}, {Key: "max", Value: z.Max},
		{Key: "zone", Value: nil}})
}

// isOn reads a setting that is on while it is not there.
func isOn(setting *bool) bool { return setting == nil || *setting }

// linesWith keeps the lines that begin with a text.
func linesWith(text, begin string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, begin) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// documents reads documents of a config collection.
func documents[T any](w *world, name string, filter bson.D) (all []T) {
	w.Helper()
	cursor, err := w.config(name).Find(w.Context(), filter)
	w.must(err)
	w.must(cursor.All(w.Context(), &all))
	return all
}

// differences are the lines that are in one text only.
func differences(before, after string) string {
	b, a := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out []string
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}
