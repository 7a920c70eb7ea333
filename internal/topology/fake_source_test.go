package topology

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/shardkey"
)

// fake is a cluster in memory. Its fields are changed only under mu.
type fake struct {
	t  testing.TB
	mu sync.Mutex

	id           string
	colls        map[Namespace]*fakeColl
	shards       []Shard
	databases    []Database
	zones        []ZoneRange
	balancer     Balancer
	rounds       int64
	events       []Event // newest first
	plain        map[string][]Namespace
	sums         bool
	disks        map[string]map[string]Disk // by database, then shard
	disksAskedOf []string                   // databases through which disks were read, in order

	fail      map[string]error // by method
	failNS    map[Namespace]error
	hang      map[string]bool
	calls     map[string]int
	sizesRead []Namespace // collections whose sizes were read, in order
	window    []Window
	rowsRead  int // by ChunksFrom

	afterChunks func(ns Namespace)        // called with mu held
	afterRow    func(ns Namespace, n int) // called with mu held, by AllChunks
}

type fakeColl struct {
	meta Meta
	rows []Chunk
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, id: "c1", colls: map[Namespace]*fakeColl{}, shards: []Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		databases: []Database{{Name: "db", Primary: "a"}}, balancer: Balancer{Known: true, Mode: "full"},
		plain: map[string][]Namespace{},
		fail:  map[string]error{}, failNS: map[Namespace]error{}, hang: map[string]bool{}, calls: map[string]int{}}
	return f
}

// add creates a collection whose chunks are bounded by the given keys, on shards a, b and c in turn.
func (f *fake) add(ns Namespace, life byte, cuts ...int64) *fakeColl {
	p := ranged(f.t)
	c := &fakeColl{meta: Meta{NS: ns, Key: p, Incarnation: Incarnation{UUID: [16]byte{life}, Timestamp: bson.Timestamp{T: uint32(life)}}}}
	lo := lowest
	for i, hi := range append(slices.Clone(cuts), highest) {
		c.rows = append(c.rows, row(f.t, p, lo, hi, f.shards[i%3].Name, 1, uint32(i)))
		lo = hi
	}
	f.colls[ns] = c
	return c
}

// move gives chunk i to a shard, with a new version.
func (c *fakeColl) move(i int, to string) {
	c.rows[i].Shard, c.rows[i].Version = to, Version{c.highest().Major + 1, 0}
}

func (c *fakeColl) highest() (v Version) {
	for _, r := range c.rows {
		if v.Less(r.Version) {
			v = r.Version
		}
	}
	return v
}

// answer is a call that returns a part of the cluster.
func answer[T any](ctx context.Context, f *fake, name string, part func() T) (T, error) {
	err := f.startCall(ctx, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	return part(), err
}

// startCall counts a call and returns its failure.
func (f *fake) startCall(ctx context.Context, name string) error {
	f.mu.Lock()
	f.calls[name]++
	err, hang := f.fail[name], f.hang[name] || f.hang["all"]
	if err == nil {
		err = f.fail["all"]
	}
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return fault.Wrap(fault.Unavailable, ctx.Err(), "The cluster did not answer in time.")
	}
	return err
}

func (f *fake) Server(ctx context.Context) (ServerInfo, error) {
	if err := f.startCall(ctx, "Server"); err != nil {
		return ServerInfo{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return ServerInfo{Version: "5.0.7", ClusterID: f.id}, nil
}

func (f *fake) Heads(ctx context.Context, w Window) ([]Head, error) {
	if err := f.startCall(ctx, "Heads"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = append(f.window, w)
	var out []Head
	for ns, c := range f.colls {
		if len(w.Only) > 0 && !slices.Contains(w.Only, ns) || len(w.Only) == 0 && ns <= w.After {
			continue
		}
		out = append(out, Head{Meta: c.meta, Highest: c.highest()})
	}
	SortHeads(out)
	if len(w.Only) == 0 && w.Limit > 0 && len(out) > w.Limit {
		out = out[:w.Limit]
	}
	return out, nil
}

func (f *fake) Chunks(ctx context.Context, m Meta, since Version, each func(Chunk) error) error {
	if err := f.startCall(ctx, "Chunks"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.failNS[m.NS]; err != nil {
		return err
	}
	var rows []Chunk
	for _, c := range f.colls { // by uuid, as the server does
		if c.meta.Incarnation.UUID == m.Incarnation.UUID {
			rows = slices.Clone(c.rows)
		}
	}
	slices.SortFunc(rows, func(a, b Chunk) int { return a.Version.Compare(b.Version) })
	for _, r := range rows {
		if r.Version.Less(since) {
			continue
		}
		if err := each(r); err != nil {
			return err
		}
	}
	if f.afterChunks != nil {
		f.afterChunks(m.NS)
	}
	return nil
}

// AllChunks reads in key order, and the cluster may change after each row.
func (f *fake) AllChunks(ctx context.Context, m Meta, each func(*ChunkRow) error) error {
	if err := f.startCall(ctx, "AllChunks"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.failNS[m.NS]; err != nil {
		return err
	}
	next := func(from string) *Chunk { // the chunk that begins behind a key, by uuid, as the server does
		var found *Chunk
		for _, c := range f.colls {
			if c.meta.Incarnation.UUID != m.Incarnation.UUID {
				continue
			}
			i := sort.Search(len(c.rows), func(i int) bool { return c.rows[i].Min.Encoded() > from })
			if i < len(c.rows) {
				found = &c.rows[i]
			}
		}
		return found
	}
	n := 0
	for c := next(""); c != nil; n++ {
		from := c.Min.Encoded()
		if err := each(rowOf(*c)); err != nil {
			return err
		}
		if f.afterRow != nil {
			f.afterRow(m.NS, n)
		}
		c = next(from)
	}
	if f.afterChunks != nil {
		f.afterChunks(m.NS)
	}
	return nil
}

func (f *fake) CountChunks(ctx context.Context, m Meta) (int64, error) {
	return answer(ctx, f, "CountChunks", func() (n int64) {
		for _, c := range f.colls {
			if c.meta.Incarnation.UUID == m.Incarnation.UUID {
				n = int64(len(c.rows))
			}
		}
		return n
	})
}

func rowOf(c Chunk) *ChunkRow {
	bound := func(k shardkey.Key) Bound { return Bound{[]byte(k.Encoded()), []byte(k.Bits())} }
	return &ChunkRow{Min: bound(c.Min), Max: bound(c.Max), Shard: c.Shard, Version: c.Version, Since: c.Since, Jumbo: c.Jumbo}
}

func (f *fake) ChunksFrom(ctx context.Context, m Meta, from shardkey.Key, limit int, each func(Chunk) error) error {
	if err := f.startCall(ctx, "ChunksFrom"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.colls[m.NS]
	if c == nil {
		return nil
	}
	if err := f.failNS[m.NS]; err != nil {
		return err
	}
	for _, r := range c.rows {
		if r.Min.Compare(from) >= 0 && limit > 0 {
			limit--
			f.rowsRead++
			if err := each(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fake) ChunksAt(ctx context.Context, m Meta, at []shardkey.Key, each func(Chunk) error) error {
	if err := f.startCall(ctx, "ChunksAt"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.colls[m.NS]
	if c == nil {
		return nil
	}
	for _, r := range c.rows {
		if slices.ContainsFunc(at, func(k shardkey.Key) bool { return k.Compare(r.Min) == 0 }) {
			if err := each(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fake) Shards(ctx context.Context) ([]Shard, error) {
	return answer(ctx, f, "Shards", func() []Shard { return slices.Clone(f.shards) })
}

func (f *fake) Databases(ctx context.Context) ([]Database, error) {
	return answer(ctx, f, "Databases", func() []Database { return slices.Clone(f.databases) })
}

func (f *fake) Zones(ctx context.Context) ([]ZoneRange, error) {
	return answer(ctx, f, "Zones", func() []ZoneRange { return slices.Clone(f.zones) })
}

func (f *fake) Settings(ctx context.Context) (Balancer, error) {
	return answer(ctx, f, "Settings", func() Balancer { return f.balancer })
}

func (f *fake) Routers(ctx context.Context) ([]Router, error) {
	return []Router{{Host: "m", Version: "5.0.7", Ping: time.Now()}}, f.startCall(ctx, "Routers")
}

func (f *fake) BalancerStatus(ctx context.Context) (bool, int64, error) {
	err := f.startCall(ctx, "BalancerStatus")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rounds++
	return false, f.rounds, err
}

func (f *fake) Events(ctx context.Context, newest *Event, limit int) ([]Event, error) {
	if err := f.startCall(ctx, "Events"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Event
	for _, e := range f.events {
		if newest != nil && e.ID == newest.ID || len(out) == limit {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

func (f *fake) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	if err := f.startCall(ctx, "Sizes"); err != nil {
		return Sizes{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizesRead = append(f.sizesRead, ns)
	if err := f.failNS[ns]; err != nil {
		return Sizes{}, err
	}
	known := func(n int64) Figure { return Figure{Known: true, Value: n, At: time.Now()} }
	shard := cmp.Or((&Table{Databases: f.databases}).Primary(ns.Database()), "a")
	return Sizes{NS: ns, At: time.Now(), Shards: map[string]Size{shard: {Bytes: known(7), Storage: known(5), Indexes: known(3)}}}, nil
}

// sizesAsked are the collections whose sizes were read one by one, so far.
func (f *fake) sizesAsked() []Namespace {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sizesRead)
}

func (f *fake) AllSizes(ctx context.Context) ([]Sizes, error) {
	if err := f.startCall(ctx, "AllSizes"); err != nil {
		return nil, err
	}
	if !f.sums {
		return nil, fault.New(fault.NotFound, "too old")
	}
	var out []Sizes
	for ns, c := range f.colls {
		if c.meta.Unsplittable {
			continue
		}
		owned := Figure{Known: true, Value: 6, At: time.Now()}
		out = append(out, Sizes{NS: ns, At: time.Now(), Shards: map[string]Size{"a": {Bytes: owned}}})
	}
	return out, nil
}

func (f *fake) Disks(ctx context.Context, db string, shards []Shard) (map[string]Disk, error) {
	err := f.startCall(ctx, "Disks")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disksAskedOf = append(f.disksAskedOf, db)
	if err == nil {
		err = f.failNS[Namespace(db)]
	}
	if err != nil {
		return nil, err
	}
	out := map[string]Disk{}
	for _, s := range shards {
		d, ok := f.disks[db][s.Name]
		if !ok {
			d = NoDisk("noDisk")
		}
		if d.Known() {
			d.Used.At, d.Total.At = time.Now(), time.Now()
		}
		out[s.Name] = d
	}
	return out, nil
}

func (f *fake) Collections(ctx context.Context, db string) ([]Namespace, error) {
	return answer(ctx, f, "Collections", func() []Namespace { return slices.Clone(f.plain[db]) })
}

// change changes the cluster.
func (f *fake) change(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[name]
}

// withWatcher runs a watcher in simulated time until the test body returns.
func withWatcher(t *testing.T, f *fake, o Options, body func(w *Watcher)) {
	t.Helper()
	watch(t, f, o, body)
}

func watch(t *testing.T, f Source, o Options, body func(w *Watcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := NewWatcher(f, o)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() { // also when the body fails, so that Run and its goroutines end
			cancel()
			expect.NoError(t, <-done, "Run ended with")
		}()
		synctest.Wait()
		body(w)
	})
}

// wait lets simulated time pass and everything that follows happen.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
