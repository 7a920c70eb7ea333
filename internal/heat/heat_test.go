package heat

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// knownWrites is a source with known writes: each document has its own write rate.
type knownWrites struct {
	rng      *rand.Rand
	rates    map[bson.ObjectID]float64 // by document, per second
	of       map[bson.ObjectID]bson.ObjectID
	queries  []WriteQuery
	returned int
	fail     error
	truth    map[bson.ObjectID]int64 // rows by project in all seconds, whether requested or not
	seconds  map[int64]map[bson.ObjectID]int64
}

func newKnownWrites(seed uint64, projects, documents int, rate func(i int) float64) *knownWrites {
	s := &knownWrites{rng: rand.New(rand.NewPCG(seed, 9)), rates: map[bson.ObjectID]float64{},
		of: map[bson.ObjectID]bson.ObjectID{}, truth: map[bson.ObjectID]int64{},
		seconds: map[int64]map[bson.ObjectID]int64{}}
	for p := range projects {
		for d := range documents {
			id := docID(1+p, 1+d)
			s.rates[id], s.of[id] = rate(p)/float64(documents), docID(1+p, 0)
		}
	}
	return s
}

func docID(p, d int) (id bson.ObjectID) {
	id[3], id[4], id[10], id[11] = byte(p>>8), byte(p), byte(d>>8), byte(d)
	return id
}

// rowsInSecond draws the rows of a second once, so that seconds that nobody requests
// have writes too.
func (s *knownWrites) rowsInSecond(t int64) map[bson.ObjectID]int64 {
	if got, ok := s.seconds[t]; ok {
		return got
	}
	rows := map[bson.ObjectID]int64{}
	for _, id := range slices.SortedFunc(maps.Keys(s.rates), func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) }) {
		if n := poisson(s.rng, s.rates[id]); n > 0 {
			rows[id] = n
			s.truth[s.of[id]] += n
		}
	}
	s.seconds[t] = rows
	return rows
}

func poisson(rng *rand.Rand, mean float64) int64 {
	limit, p, n := math.Exp(-mean), rng.Float64(), int64(0)
	for p > limit {
		p *= rng.Float64()
		n++
	}
	return n
}

func (s *knownWrites) Writes(_ context.Context, q WriteQuery) (Written, error) {
	s.queries = append(s.queries, q)
	if q.Date != "" {
		return Written{Counts: []Count{{Project: q.Of.ObjectID(), Rows: 7}}}, nil
	}
	if s.fail != nil {
		return Written{}, s.fail
	}
	sums := map[bson.ObjectID]int64{}
	for t := q.To.Add(-Tick).Unix(); t < q.To.Unix(); t++ {
		for id, n := range s.rowsInSecond(t) {
			if t >= q.From.Unix() {
				sums[id] += n
			}
		}
	}
	var out []Count
	for id, n := range sums {
		out = append(out, Count{Project: s.of[id], Document: id, Rows: n})
	}
	slices.SortFunc(out, func(a, b Count) int { return int(b.Rows - a.Rows) })
	out = out[:min(len(out), q.Limit)]
	s.returned += len(out)
	return Written{Counts: out}, nil
}

func (s *knownWrites) Operations(context.Context, topology.Namespace) (map[string]Operations, error) {
	return nil, errors.New("none")
}

type fixedTable struct{ table *topology.Table }

func (f fixedTable) Table() *topology.Table { return f.table }

// yorkieTable is a routing table with the Yorkie collections that these tests need.
func yorkieTable() *topology.Table {
	hashed := routing.Pattern("doc_id#")
	return &topology.Table{
		Loaded:    true,
		Databases: []topology.Database{{Name: "y", Primary: "a"}},
		Unsharded: []topology.Namespace{"y.projects"},
		Shards:    []topology.Shard{{Name: "a"}, {Name: "b"}},
		Collections: []*topology.Collection{
			routing.Collection("y.changes", hashed, routing.Bounds(hashed, int64(-1<<62), int64(0), int64(1<<62)), "a", "b"),
			routing.Collection("y.documents", routing.Pattern("project_id"), nil, "a"),
		},
	}
}

// collectFor counts the writes to a table's collections for the duration d.
func collectFor(t *testing.T, table *topology.Table, src Source, d time.Duration, o Options, listen func(Slot)) (c *Collector) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c = NewCollector(src, fixedTable{table}, profile.Yorkie(), o)
		if listen != nil {
			c.OnSlot(listen)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		time.Sleep(d)
		synctest.Wait()
		cancel()
		<-done
	})
	return c
}

// collect counts the writes to yorkieTable.
func collect(t *testing.T, src *knownWrites, d time.Duration) *Collector {
	t.Helper()
	return collectFor(t, yorkieTable(), src, d, Options{Seed: 1}, nil)
}

func TestFullCountIsExact(t *testing.T) {
	src := newKnownWrites(1, 12, 3, func(i int) float64 { return float64(i) * 0.5 })
	c := collect(t, src, 2*time.Minute)
	w := c.Window("y.changes", 5*time.Minute)
	if w.Seconds < 100 || !w.Total.Exact || w.Total.PlusMinus != 0 {
		t.Fatalf("got %+v, want Seconds at least 100, Total.Exact true, Total.PlusMinus 0", w)
	}
	var rows int64
	for _, l := range w.Projects() {
		if src.truth[l.Project] != l.Rate.Rows {
			t.Errorf("project %s: %d rows, truth %d", l.Project.Hex(), l.Rate.Rows, src.truth[l.Project])
		}
		rows += l.Rate.Rows
	}
	expect.That(t, rows == w.Total.Rows, "%v %v", rows, w.Total.Rows)
	var shares float64
	for _, l := range w.Chunks(yorkieTable(), profile.Yorkie()) {
		shares += l.Rate.Share
	}
	expect.That(t, math.Abs(shares-1) <= 1e-9, "the chunks' shares do not add up to 1: %v", shares)
	if shards := w.Shards(yorkieTable(), profile.Yorkie()); len(shards) != 2 || math.Abs(shards[0].Rate.Share+shards[1].Rate.Share-1) > 1e-9 {
		t.Errorf("got %+v, want two shards whose shares add up to 1", shards)
	}
}

func TestUnderLoadOneSecondInTenIsCounted(t *testing.T) {
	src := newKnownWrites(2, 40, 60, func(int) float64 { return 75 }) // 3,000 rows a second in 2,400 documents
	c := collect(t, src, 5*time.Minute)
	w := c.Window("y.changes", 4*time.Minute)
	must.That(t, !w.Total.Exact && w.Total.PlusMinus != 0, "got %+v, want Exact false, PlusMinus more than 0", w.Total)
	if d := math.Abs(w.Total.PerSecond - 3000); d > 3*w.Total.PlusMinus && d > 100 {
		t.Errorf("%.0f ± %.0f a second, truth 3000", w.Total.PerSecond, w.Total.PlusMinus)
	}
	if h, ok := c.Health("y.changes"); !ok || !h.Sampled || h.Err != nil {
		t.Errorf("health %+v, want sampled without an error", h)
	}
	if limit := PerSecond*300 + PerSecond*burstSeconds; src.returned > limit {
		t.Errorf("%d documents returned, budget %d", src.returned, limit)
	}
}

func TestFailedCountIsAGapNotAZero(t *testing.T) {
	src := newKnownWrites(3, 2, 1, func(int) float64 { return 1 })
	src.fail = fault.New(fault.Forbidden, "no")
	c := collect(t, src, time.Minute)
	if w := c.Window("y.changes", time.Minute); w.Seconds != 0 || len(w.Projects()) != 0 {
		t.Errorf("got %+v, want no counted seconds and no projects", w)
	}
	if h, ok := c.Health("y.changes"); !ok || h.Err == nil {
		t.Errorf("got %+v %v, want ok true, h.Err not nil", h, ok)
	}
}

// Every project that writes at least 1.2 times as much as the eleventh has to be among the ten shown, in 95 of 100
// runs: in the list of a collection, and in the sum, although busy collections are counted in only one second of ten.
func TestTenHottestProjectsAreShown(t *testing.T) {
	const projects = 30
	rate := func(i int) float64 { return 2 + 60/float64(1+i) }
	begin := time.Unix(1_800_000_000, 0)
	for name, shown := range map[string]func(t *testing.T, seed uint64) []bson.ObjectID{
		"of a collection": func(t *testing.T, seed uint64) (out []bson.ObjectID) {
			src := newKnownWrites(100+seed, projects, 1, rate)
			c := NewCollector(src, fixedTable{yorkieTable()}, profile.Yorkie(), Options{Seed: seed + 1, Budget: NewBudget(100_000, nil)})
			for i := range 30 {
				c.sampled["y.changes"] = true // sampled from the first tick, as under load
				tt := byMethod(NewRows, targets(yorkieTable(), c.prof))[0]
				s, err := c.count(t.Context(), tt, begin.Add(time.Duration(i)*Tick), begin.Add(time.Duration(i+1)*Tick), 0)
				must.Do(t, err)
				c.ring.add(s)
			}
			for _, l := range c.Window("y.changes", 5*time.Minute).Projects()[:10] {
				out = append(out, l.Project)
			}
			return out
		},
		"of the sum": func(_ *testing.T, seed uint64) (out []bson.ObjectID) {
			changes := newKnownWrites(300+seed, projects, 1, rate)
			snapshots := newKnownWrites(700+seed, projects, 1, func(i int) float64 { return rate(i) / 40 })
			c := &Collector{}
			for i := range 30 {
				from := begin.Add(time.Duration(i) * Tick)
				c.ring.add(slotOf(changes, "y.changes", from, from.Unix()+int64(seed+uint64(i))%10, 10))
				c.ring.add(slotOf(snapshots, "y.snapshots", from, from.Unix(), 1))
			}
			of := []Window{c.Window("y.changes", 5*time.Minute), c.Window("y.snapshots", 5*time.Minute)}
			for _, s := range Sums(of, Window.Projects)[:10] {
				out = append(out, s.Line.Project)
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			good, runs := 0, 100
			if testing.Short() {
				runs = 20
			}
			for seed := range uint64(runs) {
				got, ok := shown(t, seed), true
				for p := range projects {
					ok = ok && (rate(p) < 1.2*rate(10) || slices.Contains(got, docID(1+p, 0)))
				}
				if ok {
					good++
				}
			}
			expect.That(t, good >= runs*95/100, "in %d of %d runs, want at least 95 of 100", good, runs)
		})
	}
}

func TestOldSlotsAreMergedAndThenDropped(t *testing.T) {
	c := &Collector{}
	r := &c.ring
	begin := time.Unix(1_800_000_000, 0).Truncate(time.Minute)
	slot := func(from time.Time, length time.Duration) Slot {
		return Slot{NS: "y.changes", From: from, To: from.Add(length), Every: 1,
			Counts: []Count{{docID(1, 0), docID(1, from.Second()), 2 * int64(length/Tick)}}}
	}
	at := begin
	for ; at.Before(begin.Add(23 * time.Hour)); at = at.Add(time.Minute) {
		r.recall([]Slot{slot(at, time.Minute)})
	}
	for ; at.Before(begin.Add(25 * time.Hour)); at = at.Add(Tick) {
		r.add(slot(at, Tick))
	}
	slots := r.since("y.changes", time.Time{})
	of := map[time.Duration]int{}
	for _, s := range slots {
		of[s.To.Sub(s.From)]++
	}
	for length, want := range map[time.Duration]int{Tick: 15 * 6, time.Minute: 70 - 15, 5 * time.Minute: 22, 30 * time.Minute: 21 * 2} {
		if n := of[length]; n < want || n > want+6 {
			t.Errorf("%d slots of %s, want %d", n, length, want)
		}
		delete(of, length)
	}
	expect.That(t, len(of) == 0, "slots of other lengths: %v", of)
	end := slots[len(slots)-1].To
	for ago, want := range map[time.Duration]float64{time.Hour: 60, 2 * time.Hour: 300, 4 * time.Hour: 1800} {
		from := end.Add(-ago).Truncate(5 * time.Minute).Add(2 * time.Minute)
		if w := c.Between("y.changes", from, from.Add(time.Minute)); w.Seconds != want {
			t.Errorf("a minute %s ago is answered with %v s, want %v", ago, w.Seconds, want)
		}
	}
	var rows int64
	for _, s := range slots {
		rows += s.Rows()
	}
	if hours := slots[len(slots)-1].To.Sub(slots[0].From).Hours(); hours > 24.5 || math.Abs(float64(rows)-hours*3600/10*2) > 20 {
		t.Errorf("%d rows in %.2f h", rows, hours)
	}
}
