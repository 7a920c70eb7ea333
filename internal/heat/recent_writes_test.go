package heat

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// newestRows is a collection of rows, newest first.
type newestRows struct {
	rows  []bson.D
	err   error
	asked []NewestQuery
}

func (n *newestRows) NewestRows(ctx context.Context, q NewestQuery) (out []placement.KeyedRow, err error) {
	n.asked = append(n.asked, q)
	if n.err == context.DeadlineExceeded {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, row := range n.rows[:min(len(n.rows), q.Limit)] {
		raw, err := bson.Marshal(row)
		if err != nil {
			return nil, err
		}
		id, _ := bson.Raw(raw).Lookup("_id").ObjectIDOK()
		out = append(out, placement.KeyedRow{ID: id, Doc: raw})
	}
	return out, n.err
}

func chunkRanges(c *topology.Collection) (out []shardkey.Range) {
	for _, ch := range c.Chunks.All() {
		out = append(out, shardkey.Range{Min: ch.Min, Max: ch.Max})
	}
	return out
}

func TestCountedWritesAreListedByShardKey(t *testing.T) {
	src := newKnownWrites(3, 12, 5, func(i int) float64 { return float64(i) * 0.3 })
	c := collect(t, src, 3*time.Minute)
	table, rows := yorkieTable(), &newestRows{}
	col := table.Collection("y.changes")
	window := c.recent("y.changes")
	var all int64
	for i, w := range c.Written(t.Context(), rows, table, "y.changes", chunkRanges(col)) {
		var sum int64
		for n, k := range w.Keys {
			at, _ := col.Chunks.Find(k.Key)
			want, err := col.Key.KeyOf(bson.RawValue{Type: bson.TypeObjectID, Value: k.Document[:]})
			if err != nil || at != i || want.Compare(k.Key) != 0 || src.of[k.Document] != k.Project || n > 0 && w.Keys[n-1].Key.Compare(k.Key) >= 0 {
				t.Errorf("chunk %d: %+v, %v", i, k, err)
			}
			sum += k.Rows
		}
		if sum != w.Rows || w.Method != topology.WritesCounted || !w.InShards || w.AtLeast || w.Reason != "" {
			t.Errorf("chunk %d: %d rows of %+v", i, sum, w)
		}
		all += w.Rows
	}
	if all != window.Total.Rows || all == 0 || len(rows.asked) != 0 {
		t.Errorf("%d rows, counted were %d, %d reads", all, window.Total.Rows, len(rows.asked))
	}
	rates := c.ShardRates(table)
	if len(rates) != 2 || rates["a"]+rates["b"] < window.Total.PerSecond*0.99 {
		t.Errorf("%v of %v", rates, window.Total)
	}
}

func TestWritesNotCountedByKeyAreReadFromTheCollection(t *testing.T) {
	now := time.Now()
	table := tableWith(map[topology.Namespace]shardkey.Pattern{"shop.orders": routing.Pattern("customer"), "shop.log": routing.Pattern("_id"),
		"y.versionvectors": routing.Pattern("doc_id#"), "y.clients": routing.Pattern("_id#"),
		"y.snapshots": routing.Pattern("doc_id", "server_seq")})
	id := func(ago time.Duration) bson.ObjectID { return bson.NewObjectIDFromTimestamp(now.Add(-ago)) }
	var orders, logged, changed []bson.D
	for i := range 60 {
		ago := time.Duration(i) * time.Second
		orders = append(orders, bson.D{{Key: "_id", Value: id(ago)}, {Key: "customer", Value: int32(i * 7 % 10)}})
		logged = append(logged, bson.D{{Key: "_id", Value: id(ago)}})
		changed = append(
			changed,
			bson.D{{Key: "_id", Value: docID(9, i)}, {Key: "project_id", Value: docID(1+i%3, 0)}, {Key: "updated_at", Value: now.Add(-ago)}},
		)
	}
	for _, x := range []struct {
		ns     topology.Namespace
		rows   []bson.D
		err    error
		used   bool // the budget is used up
		reason string
		method string
		keys   int
		grows  bool
		date   string
		field  string
	}{
		{ns: "shop.orders", rows: orders, method: topology.WritesNew, keys: 10, field: "customer"},
		{ns: "shop.log", rows: logged, method: topology.WritesNew, keys: 60, grows: true},
		{ns: "y.documents", rows: changed, method: topology.WritesChanged, keys: 3, date: "updated_at", field: "project_id"},
		{ns: "y.snapshots", rows: nil, method: topology.WritesNew, field: "doc_id"},
		{ns: "y.versionvectors", reason: "inPlace"},
		{ns: "y.clients", reason: "scattered"},
		{ns: "y.none", reason: "notLoaded"},
		{ns: "shop.orders", err: fault.New(fault.Forbidden, "no"), reason: "notPermitted"},
		{ns: "shop.orders", err: fault.New(fault.Unavailable, "no"), reason: "unreachable"},
		{ns: "shop.orders", err: errors.New("odd"), reason: "unreachable"},
		{ns: "shop.orders", err: context.DeadlineExceeded, reason: "tooSlow"},
		{ns: "shop.orders", rows: orders, used: true, reason: "noBudget"},
	} {
		budget := NewBudget(0, func() time.Time { return now })
		if x.used {
			budget.Hold(budget.Burst())
		}
		left := budget.tokens
		c := NewCollector(newKnownWrites(1, 1, 1, func(int) float64 { return 0 }), fixedTable{table}, profile.Yorkie(), Options{Budget: budget})
		src := &newestRows{rows: x.rows, err: x.err}
		whole := []shardkey.Range{{}}
		if col := table.Collection(x.ns); col != nil {
			whole = chunkRanges(col)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		got := c.Written(ctx, src, table, x.ns, whole)[0]
		cancel()
		if got.Reason != x.reason ||
			x.reason == "" &&
				(got.Method != x.method || len(got.Keys) != x.keys || got.Rows != int64(len(x.rows)) || got.Growing != x.grows || got.InShards) {
			t.Errorf("%s, %v: %+v", x.ns, x.err, got)
		}
		for _, k := range got.Keys {
			if x.ns == "y.documents" && (k.Project.IsZero() || !k.Document.IsZero()) {
				t.Errorf("the key %+v belongs to several documents, want one key per document", k)
			}
		}
		if spent := left - budget.tokens; int(spent) != int(got.Rows) {
			t.Errorf("%s: %.0f of the budget for %d rows", x.ns, spent, got.Rows)
		}
		if asked := x.reason == "" || x.err != nil; (len(src.asked) > 0) != asked {
			t.Errorf("%s: asked %v", x.ns, src.asked)
		}
		if len(src.asked) > 0 && x.err == nil {
			q := src.asked[0]
			if q.Date != x.date || q.Field != x.field || q.Limit > maxSampledRows || q.Limit < minSampledRows ||
				!q.From.Before(time.Now().Add(-Recent+time.Minute)) {
				t.Errorf("%s: %+v", x.ns, q)
			}
		}
	}
}

// A read that ends at its row limit covers less time than requested, and its result
// states which.
func TestTruncatedReadReportsTheTimeItCovers(t *testing.T) {
	now := time.Now()
	table := tableWith(map[topology.Namespace]shardkey.Pattern{"shop.orders": routing.Pattern("customer")})
	src := &newestRows{}
	for i := range 2000 {
		src.rows = append(
			src.rows,
			bson.D{
				{Key: "_id", Value: bson.NewObjectIDFromTimestamp(now.Add(-time.Duration(i) * time.Second / 10))},
				{Key: "customer", Value: int32(i % 40)},
			},
		)
	}
	c := NewCollector(newKnownWrites(1, 1, 1, func(int) float64 { return 0 }), fixedTable{table}, profile.Yorkie(), Options{})
	got := c.Written(t.Context(), src, table, "shop.orders", chunkRanges(table.Collection("shop.orders")))[0]
	if took := got.To.Sub(got.From); !got.AtLeast || got.Rows != maxSampledRows || took < 95*time.Second || took > 110*time.Second ||
		got.PerSecond < 8 ||
		got.PerSecond > 11 {
		t.Errorf("%d rows in %s, %.1f a second, at least %v", got.Rows, got.To.Sub(got.From), got.PerSecond, got.AtLeast)
	}
	if !slices.IsSortedFunc(got.Keys, func(a, b topology.KeyWrites) int { return a.Key.Compare(b.Key) }) || len(got.Keys) != 40 {
		t.Errorf("%d keys", len(got.Keys))
	}
}

// A load that began a minute ago is not mixed with the quiet time before it.
func TestRecentWritesAreOfTheShortestTimeThatTells(t *testing.T) {
	for name, x := range map[string]struct {
		quiet, busy int64 // rows in ten seconds, before the last minute and in it
		want        time.Duration
	}{
		"little all the time": {5, 5, Recent},
		"much for a minute":   {5, 80, time.Minute},
		"some all the time":   {40, 40, 2 * time.Minute},
	} {
		c := NewCollector(nil, nil, profile.Yorkie(), Options{})
		var slots []Slot
		begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for i := range 36 {
			rows := x.quiet
			if i >= 30 {
				rows = x.busy
			}
			from := begin.Add(time.Duration(i) * Tick)
			slots = append(slots, Slot{NS: "y.changes", Method: NewRows, From: from, To: from.Add(Tick), Every: 1, Counts: []Count{{Rows: rows}}})
		}
		c.Recall(slots)
		if w := c.recent("y.changes"); w.Seconds != x.want.Seconds() {
			t.Errorf("%s: %v s, want %s", name, w.Seconds, x.want)
		}
	}
}
