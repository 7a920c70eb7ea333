package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/notify"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// feed is a value that is published to subscribers, as the watcher and the
// keeper do.
type feed[T any] struct {
	mu          sync.Mutex
	value       T
	subscribers notify.Subscribers
}

func (f *feed[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value
}

func (f *feed[T]) Subscribe() (T, <-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	newer, end := f.subscribers.Subscribe()
	return f.value, newer, end
}

func (f *feed[T]) publish(v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value = v
	f.subscribers.Notify()
}

type stubWatcher struct {
	feed[*topology.Table]
	viewed []topology.Namespace
}

func (w *stubWatcher) Table() *topology.Table { return w.get() }

func (w *stubWatcher) Viewed(ns topology.Namespace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.viewed = append(w.viewed, ns)
}

type stubKeeper struct{ feed[*placement.Directory] }

func (k *stubKeeper) Directory() *placement.Directory { return k.get() }

type stubLocator struct {
	locate func(placement.Query) ([]placement.Item, error)
}

func (l *stubLocator) Locate(_ context.Context, q placement.Query) ([]placement.Item, error) {
	return l.locate(q)
}

// site is a server over canned data.
type testSite struct {
	*Server
	watcher *stubWatcher
	keeper  *stubKeeper
	locator *stubLocator
	log     *bytes.Buffer
	told    *heldToWord
}

// epoch is the moment of all fixtures.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newSite(t testing.TB, change ...func(*site.Deps)) *testSite {
	t.Helper()
	s := &testSite{watcher: &stubWatcher{}, keeper: &stubKeeper{}, locator: &stubLocator{}, log: &bytes.Buffer{}}
	s.watcher.value = cannedTable(1, 250)
	s.keeper.value = cannedDirectory(1, 230)
	s.locator.locate = func(q placement.Query) ([]placement.Item, error) {
		return nil, fault.New(fault.NotFound, "Nothing is called %q.", q.Text)
	}
	deps := site.Deps{
		Watcher: s.watcher, Keeper: s.keeper, Locator: s.locator, Profile: profile.Yorkie(),
		Log:      slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Heat:     heat.NewCollector(nil, s.watcher, profile.Yorkie(), heat.Options{Seed: 1}),
		Pictures: keyvis.New(s.watcher, nil, nil),
		Surveys:  cannedSurveys(),
		Now:      func() time.Time { return epoch }, Target: "mongos.example:27017", Version: "test",
		Advice: rules.NewAdvisor(
			rules.Sources{Tables: s.watcher, Directories: s.keeper, Profile: profile.Yorkie(), Now: func() time.Time { return epoch }},
		),
		Auth:    everybody{who: auth.Local()},
		Audit:   cannedAudit(),
		Actions: cannedActions(),
	}
	for _, f := range change {
		f(&deps)
	}
	s.Server = New(deps)
	s.told = describedBy(t, s.Site)
	return s
}

// do asks the handler in memory, as localhost.
func (s *testSite) do(method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:8090"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	s.told.check(r, w)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func body(text string) func(*http.Request) {
	return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
}

// decode reads a JSON answer of status 200.
func decode[T any](t testing.TB, w *httptest.ResponseRecorder) T {
	t.Helper()
	var out T
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return out
}

const hostileName = `=cmd|'/c calc'!A1<script>alert(1)</script>`

// cannedTable has three shards (one with a hostile name), a ranged, a compound
// hashed and a hashed collection with n chunks in the first, a zone, sizes of
// one collection and two events.
func cannedTable(seq uint64, n int) *topology.Table {
	t := &topology.Table{
		ClusterID: "65e1c0ffee00000000000001", Seq: seq, Built: epoch, Loaded: true,
		ServerInfo: topology.ServerInfo{Version: "5.0.7"},
		Shards: []topology.Shard{
			{Name: hostileName, ReplSet: "rs-x", Hosts: []string{"x:27018"}},
			{Name: "shard-rs-1", ReplSet: "shard-rs-1", Hosts: []string{"a:27018"}, Zones: []string{"eu"}},
			{Name: "shard-rs-2", ReplSet: "shard-rs-2", Hosts: []string{"b:27018"}},
		},
		Databases: []topology.Database{{Name: "yorkie-meta", Primary: "shard-rs-1"}},
		Unsharded: []topology.Namespace{"yorkie-meta.projects", "yorkie-meta.users"},
		Balancer:  topology.Balancer{Known: true, Mode: "full", ChunkBytes: 64 << 20, ChunkDefault: true},
		Health:    map[topology.Part]topology.Health{},
		Sizes:     map[topology.Namespace]topology.Sizes{},
	}
	for _, p := range answer.AllParts {
		t.Health[p] = topology.Health{At: epoch}
	}
	docs := collectionFixture("yorkie-meta.documents", bson.D{{Key: "project_id", Value: 1}}, n, 1)
	changes := collectionFixture("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: "hashed"}}, 1200, 2)
	weird := collectionFixture("weird.a/b,c@1%2F ü", bson.D{{Key: "name", Value: 1}}, 3, 3)
	t.Collections = []*topology.Collection{weird, changes, docs}
	lo, hi := docs.Chunks.At(2).Min, docs.Chunks.At(5).Min // n is at least 6
	rawLo, _ := docs.Key.Document(lo)
	rawHi, _ := docs.Key.Document(hi)
	t.Zones = []topology.ZoneRange{{NS: docs.NS, Zone: "eu", Min: lo, Max: hi, RawMin: rawLo, RawMax: rawHi}}
	known := func(v int64) topology.Figure {
		return topology.Figure{Known: true, Value: v, Method: "collStats", At: epoch}
	}
	t.Sizes[docs.NS] = topology.Sizes{NS: docs.NS, At: epoch, Sharded: true, Shards: map[string]topology.Size{
		"shard-rs-1": {Bytes: known(1000), Documents: known(10)}, "shard-rs-2": {Bytes: known(500), Documents: known(5)},
	}}
	details, _ := bson.Marshal(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "note", Value: "<script>=1+1"}})
	for i := range 300 {
		t.Events = append(t.Events, topology.Event{
			ID: fmt.Sprintf("host-%d", 300-i), Time: epoch.Add(-time.Duration(i) * time.Second),
			What: []string{"moveChunk.commit", "split"}[i%2], NS: string(docs.NS), Shard: "shard-rs-1", Details: details,
		})
	}
	return t
}

// collectionFixture has n chunks that change shards every third chunk.
func collectionFixture(ns topology.Namespace, key bson.D, n int, salt byte) *topology.Collection {
	raw, err := bson.Marshal(key)
	if err != nil {
		panic(err)
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		panic(err)
	}
	shards := []string{"shard-rs-1", "shard-rs-2", hostileName}
	bounds := []shardkey.Key{p.Min()}
	for i := 1; i < n; i++ {
		doc, err := bson.Marshal(bson.D{{Key: key[0].Key, Value: boundValue(p, i)}})
		if err != nil {
			panic(err)
		}
		k, err := p.Bound(doc)
		if err != nil {
			panic(err)
		}
		bounds = append(bounds, k)
	}
	slices.SortFunc(bounds, shardkey.Key.Compare)
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i := range n {
		rows = append(rows, topology.Chunk{
			Min: bounds[i], Max: bounds[i+1], Shard: shards[i/3%3], Version: topology.Version{Major: uint32(i + 1)},
			Since: bson.Timestamp{T: uint32(epoch.Unix())}, Jumbo: i == 7,
		})
	}
	m, err := topology.BuildChunks(p, rows)
	if err != nil {
		panic(err)
	}
	return &topology.Collection{
		Meta:    topology.Meta{NS: ns, Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{salt}}},
		Highest: m.Highest(), Chunks: m,
	}
}

func boundValue(p shardkey.Pattern, i int) any {
	if p.Fields()[0].Hashed {
		return int64(i) << 40
	}
	return projectID(i)
}

func projectID(i int) bson.ObjectID {
	return bson.ObjectID{0x65, 0xe0, 0, 0, 0, 0, 0, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}
}

func cannedDirectory(seq uint64, n int) *placement.Directory {
	var ps []placement.Project
	for i := range n {
		name := fmt.Sprintf("project-%03d", i)
		if i == 0 {
			name = hostileName
		}
		ps = append(ps, placement.Project{DB: "yorkie-meta", ID: projectID(i), Name: name, PublicKey: fmt.Sprintf("pk%d", i), CreatedAt: epoch})
	}
	return placement.NewDirectory(seq, []string{"yorkie-meta"}, ps, topology.Health{At: epoch})
}

// withMoved is the table after chunk i of a collection moved, published as the
// next one.
func withMoved(t *topology.Table, ns topology.Namespace, i int, to string) *topology.Table {
	next := *t
	next.Seq++
	next.Collections = slices.Clone(t.Collections)
	for ci, c := range next.Collections {
		if c.NS != ns {
			continue
		}
		var rows []topology.Chunk
		for j, ch := range c.Chunks.All() {
			if j == i {
				ch.Shard = to
				ch.Version = topology.Version{Major: c.Highest.Major + 1}
			}
			rows = append(rows, ch)
		}
		m, err := topology.BuildChunks(c.Key, rows)
		if err != nil {
			panic(err)
		}
		moved := *c
		moved.Chunks, moved.Highest = m, m.Highest()
		next.Collections[ci] = &moved
	}
	return &next
}

var zeroHealth topology.Health

func bsonKey(field string) bson.D { return bson.D{{Key: field, Value: 1}} }
