package keys

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
)

func row(d bson.D) bson.Raw { return must.Get(bson.Marshal(d)) }

func cluster(shards int) *Cluster {
	return &Cluster{Shards: shards, ChunkSize: 1 << 20, BytesPerSecond: 10 << 20, CanRefine: true, CanReshard: true}
}

func model(t testing.TB, m Model) *Sample {
	t.Helper()
	m.Start, m.Span = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 90*24*time.Hour
	s, err := m.Sample()
	must.Do(t, err)
	return s
}

func compare(t testing.TB, s *Sample, c *Cluster, keys ...shardkey.Pattern) []Report {
	t.Helper()
	var candidates []Candidate
	for _, k := range keys {
		candidates = append(candidates, Candidate{Key: k})
	}
	reports, err := Compare(s, c, candidates)
	must.Do(t, err)
	for _, r := range reports {
		must.That(t, r.Err == nil, "%s: %v", r.Name, r.Err)
	}
	return reports
}

func TestAscendingKeySendsAllInsertsToOneShard(t *testing.T) {
	s := model(t, Model{Collection: "documents", Projects: 100, Rows: 20_000, RowBytes: 2000})
	for _, r := range compare(t, s, cluster(4), routing.Pattern("_id")) {
		if r.Inserts != 1 || r.Order < 0.9 || r.Fullest > 0.3 {
			t.Errorf("%s: %.2f of inserts on one shard, order %.2f, fullest %.2f; expected all, 1 and a quarter",
				r.Name, r.Inserts, r.Order, r.Fullest)
		}
	}
	for _, r := range compare(t, s, cluster(4), routing.Pattern("_id#"), routing.Pattern("key")) {
		if r.Inserts > 0.3 || r.Order > 0.1 || r.Order < -0.1 {
			t.Errorf("%s: %.2f of inserts on one shard, order %.2f; expected them spread", r.Name, r.Inserts, r.Order)
		}
	}
}

// What the designs of Yorkie's layouts say of their own weak points.
func TestYorkiesLayoutsHaveTheirKnownWeakPoints(t *testing.T) {
	few := model(t, Model{Collection: "documents", Projects: 5, Rows: 20_000, RowBytes: 2000, Skew: 1})
	c := cluster(3)
	c.Queries, c.Unique, _ = YorkieQueries("documents")
	reports := compare(t, few, c, routing.Pattern("project_id"), routing.Pattern("project_id", "key"),
		routing.Pattern("project_id", "_id#"))
	ranged, byKey, byID := reports[0], reports[1], reports[2]
	// A project that is larger than a chunk cannot be divided.
	if ranged.Values != Exact(5) || ranged.Stuck == 0 || ranged.Heaviest < 10<<20 || ranged.Fullest < 0.4 {
		t.Errorf("ranged project_id: %+v", ranged)
	}
	expect.That(t, byKey.Stuck == 0 && byKey.Largest <= 2<<20 && byKey.Fullest <= 0.36, "with the key: %+v", byKey)
	if !byKey.Unique[0].Fits || byID.Unique[0].Fits || !ranged.Unique[0].Fits {
		t.Errorf("the unique index {project_id, key, removed_at} fits %v, %v, %v; expected all but the key with _id",
			ranged.Unique[0].Fits, byKey.Unique[0].Fits, byID.Unique[0].Fits)
	}

	changes := model(t, Model{Collection: "changes", Projects: 50, Documents: 2000, Rows: 30_000, RowBytes: 1500, Skew: 0.5})
	c.Queries, c.Unique, _ = YorkieQueries("changes")
	reports = compare(t, changes, c, routing.Pattern("doc_id"), routing.Pattern("doc_id#"), routing.Pattern("project_id", "doc_id"))
	old, hashed, project := reports[0], reports[1], reports[2]
	if old.Inserts <= hashed.Inserts || hashed.Inserts > 0.4 {
		t.Errorf("inserts on the busiest shard: %.2f ranged, %.2f hashed; expected ranged doc_id to be worse", old.Inserts, hashed.Inserts)
	}
	for _, u := range hashed.Unique {
		expect.That(t, u.Fits, "hashed doc_id: the unique index %v is ruled out", u.Fields)
	}
	for _, u := range project.Unique {
		expect.That(t, !u.Fits, "{project_id, doc_id} is said to allow the unique index %v", u.Fields)
	}
	if len(project.Cost.Blockers) != 2 {
		t.Errorf("the cost of {project_id, doc_id} names %v, expected both unique indexes", project.Cost.Blockers)
	}
}

func TestQueriesReachTheShardsThatHaveTheirRows(t *testing.T) {
	s := model(t, Model{Collection: "clients", Projects: 3, Rows: 12_000, RowBytes: 1000})
	c := cluster(4)
	c.Queries, _, _ = YorkieQueries("clients")
	key := routing.Pattern("project_id", "_id#")
	r := compare(t, s, c, key)[0]
	want := []Reach{One, One, Some, Some, All}
	for i, q := range r.Queries {
		expect.Equal(t, q.Reach(key), want[i], "the reach of %s", q.Name)
	}
	// Each of three projects has about thirty of ninety pieces, which the shards have in turn.
	if n := r.Queries[2].Shards; n != 4 {
		t.Errorf("clients of a project are on %.2f shards, expected 4", n)
	}
}

func TestCostToGetThere(t *testing.T) {
	s := model(t, Model{Collection: "documents", Projects: 10, Rows: 1000, RowBytes: 1 << 20})
	c := cluster(4)
	c.Today = routing.Pattern("project_id")
	tests := []struct {
		change func()
		key    shardkey.Pattern
		how    string
		bytes  int64
	}{
		{func() {}, routing.Pattern("project_id"), Stays, 0},
		{func() {}, routing.Pattern("project_id", "key"), Refines, 0},
		{func() {}, routing.Pattern("project_id#"), Reshards, 1000 << 20},
		{func() { c.CanRefine = false }, routing.Pattern("project_id", "key"), Reshards, 1000 << 20},
		{func() { c.CanReshard = false }, routing.Pattern("project_id", "key"), Impossible, 0},
		{func() { c.Today = shardkey.Pattern{} }, routing.Pattern("project_id"), Shards, 750 << 20},
	}
	for _, x := range tests {
		x.change()
		got := compare(t, s, c, x.key)[0].Cost
		if got.How != x.how || got.Bytes != x.bytes || got.Duration != time.Duration(x.bytes/c.BytesPerSecond)*time.Second {
			t.Errorf("%s: %+v, expected to %s %d bytes", x.key, got, x.how, x.bytes)
		}
	}
}

// sample is an empty one.
func sample(t testing.TB, fields ...string) *Sample {
	t.Helper()
	s, err := NewSample(fields...)
	must.Do(t, err)
	return s
}

// document is a row of a sample as it was added.
func document(t testing.TB, s *Sample, i int) bson.Raw {
	t.Helper()
	var d bson.D
	for _, c := range s.columns {
		values, err := c.alone.Values(shardkey.FromParts(string(c.plain.of(i)), ""))
		must.Do(t, err)
		if values[0].Type != bson.TypeNull {
			d = append(d, bson.E{Key: c.field, Value: values[0]})
		}
	}
	return row(d)
}

// characteristics counts what Compare finds without sorting anything.
func characteristics(t *testing.T, s *Sample, p shardkey.Pattern) (values int, common float64, heaviest int64) {
	t.Helper()
	rows, bytes := map[string]int{}, map[string]int64{}
	for i := range s.Len() {
		k := must.Get(p.Extract(document(t, s, i)))
		rows[k.Encoded()]++
		bytes[k.Encoded()] += int64(s.sizes[i])
	}
	most := 0
	for k := range rows {
		most, heaviest = max(most, rows[k]), max(heaviest, bytes[k])
	}
	return len(rows), float64(most) / float64(s.Len()), heaviest
}

func TestWholeSampleIsExactAndADrawnOneIsWithinItsInterval(t *testing.T) {
	size := 60_000
	if testing.Short() {
		size = 12_000
	}
	all := model(t, Model{Collection: "changes", Projects: 40, Documents: 3000, Rows: size, RowBytes: 500, Skew: 0.8})
	fields, outside := []string{"_id", "project_id", "doc_id", "missing"}, 0
	again := sample(t, fields...)
	for i := range all.Len() {
		again.Add(document(t, all, i), int(all.sizes[i]))
	}
	all = again
	for _, key := range []shardkey.Pattern{routing.Pattern("project_id"), routing.Pattern("doc_id#"), routing.Pattern("_id"),
		routing.Pattern("project_id", "doc_id"), routing.Pattern("missing")} {
		values, common, heaviest := characteristics(t, all, key)
		r := compare(t, all, cluster(3), key)[0]
		if r.Values != Exact(float64(values)) || r.Common != Exact(common) || r.Heaviest != heaviest {
			t.Errorf("%s: %+v, %+v, %d; expected %d values, %g, %d", r.Name, r.Values, r.Common, r.Heaviest, values, common, heaviest)
		}
		seeds := uint64(20)
		if testing.Short() {
			seeds = 4
		}
		for seed := range seeds {
			rnd, drawn := rand.New(rand.NewPCG(seed, 9)), sample(t, fields...)
			for i := range all.Len() {
				if rnd.IntN(20) == 0 {
					drawn.Add(document(t, all, i), int(all.sizes[i]))
				}
			}
			drawn.DrawnFrom(int64(all.Len()))
			got := compare(t, drawn, cluster(3), key)[0]
			if got.Values.Low == got.Values.High && values > 1 || got.Values.Low > float64(values) || got.Values.High < float64(values) {
				t.Errorf("%s: %+v values, which leaves out %d", r.Name, got.Values, values)
			}
			if got.Common.Low > common || got.Common.High < common {
				outside++
			}
		}
	}
	if outside > 8 { // 5 are allowed on average
		t.Errorf("%d of 100 intervals leave the most common value's true share out", outside)
	}
}

func TestRowsWithoutTheKeyAreCounted(t *testing.T) {
	s := sample(t, "key")
	for i := range 100 {
		d := bson.D{{Key: "other", Value: i}}
		if i%4 == 0 {
			d = append(d, bson.E{Key: "key", Value: i})
		}
		s.Add(row(d), 100)
	}
	if r := compare(t, s, cluster(2), routing.Pattern("key"))[0]; r.Missing != 0.75 || r.Common != Exact(0.75) {
		t.Errorf("%.2f lack the key, the most common value has %+v; expected three quarters", r.Missing, r.Common)
	}
}

func TestRowsThatRefuseAKeyAreSaid(t *testing.T) {
	s := sample(t, "tags", "_id")
	s.Add(row(bson.D{{Key: "tags", Value: bson.A{1, 2}}}), 100)
	reports, err := Compare(s, cluster(2), []Candidate{{Key: routing.Pattern("tags")}, {Key: routing.Pattern("_id")}})
	if err != nil || reports[0].Err == nil || !strings.Contains(reports[0].Err.Error(), "Row 1") || reports[1].Err != nil {
		t.Errorf("got %v, %v, %v; expected an error of the first key alone", reports[0].Err, reports[1].Err, err)
	}
}

func TestEmptySample(t *testing.T) {
	if r := compare(t, sample(t, "_id"), cluster(2), routing.Pattern("_id"))[0]; r.Chunks != 0 || r.Cost.Bytes != 0 {
		t.Errorf("%+v", r)
	}
}

// Chunks are cut where the server cuts: at values only, and after half of the chunk size.
func TestChunksAreCutAsTheServerCutsThem(t *testing.T) {
	s := sample(t, "a", "b")
	for i := range 10_000 { // 1,000 bytes each: 524 rows fill half of a chunk
		s.Add(row(bson.D{{Key: "a", Value: i}, {Key: "b", Value: i / 2000}}), 1000)
	}
	reports := compare(t, s, cluster(2), routing.Pattern("a"), routing.Pattern("b"))
	// The 525th row after a cut begins the next chunk.
	if r := reports[0]; r.Chunks != 20 || r.Largest != 525_000 || r.Stuck != 0 {
		t.Errorf("a: %d chunks, the largest of %d bytes, %d stuck; expected 20, 525000, 0", r.Chunks, r.Largest, r.Stuck)
	}
	if r := reports[1]; r.Chunks != 5 || r.Largest != 2_000_000 || r.Stuck != 5 {
		t.Errorf("b: %d chunks, the largest of %d bytes, %d stuck; expected one for each value", r.Chunks, r.Largest, r.Stuck)
	}
}

func TestBadModelsAndClustersAreNamedWithTheirLimit(t *testing.T) {
	good := Model{Collection: "changes", Projects: 1, Documents: 1, Rows: 1, RowBytes: 1}
	for want, change := range map[string]func(*Model){
		"collection: it is": func(m *Model) { m.Collection = "users" },
		"projects: ":        func(m *Model) { m.Projects = 0 },
		"rows: ":            func(m *Model) { m.Rows = MostRows + 1 },
		"documents: ":       func(m *Model) { m.Documents = 0 },
		"skew: ":            func(m *Model) { m.Skew = 4 },
		"rowBytes: ":        func(m *Model) { m.RowBytes = 17 << 20 },
		"span: ":            func(m *Model) { m.Span = -1 },
	} {
		m := good
		change(&m)
		if _, err := m.Sample(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
	for want, change := range map[string]func(*Cluster){
		"shards: ":    func(c *Cluster) { c.Shards = 0 },
		"chunkSize: ": func(c *Cluster) { c.ChunkSize = 1 },
		"rate: ":      func(c *Cluster) { c.BytesPerSecond = 0 },
		"queries: ":   func(c *Cluster) { c.Queries = make([]Query, MostQueries+1) },
	} {
		c := cluster(2)
		change(c)
		if _, err := Compare(sample(t), c, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
