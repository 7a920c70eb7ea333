package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
)

// routingTable builds a routing table from recorded chunk documents.
func routingTable(t *testing.T, key bson.Raw, chunks []bson.Raw) *Routing {
	t.Helper()
	p, err := parsePattern(key)
	if err != nil {
		t.Fatal(err)
	}
	r := &Routing{Key: p.raw, pattern: p}
	list := make([]*Chunk, len(chunks))
	for i, d := range chunks {
		list[i] = versionFeatures{}.parseChunk(0, d)
	}
	r.setChunks(list)
	return r
}

func TestFiltersTargetTheShardsOfTheRecordedServer(t *testing.T) {
	chunks := make(map[string][]bson.Raw)
	keys := make(map[string]bson.Raw)
	type line struct {
		Coll  string          `json:"coll"`
		Key   json.RawMessage `json:"key"`
		Chunk json.RawMessage `json:"chunk"`
		Query json.RawMessage `json:"query"`
		Want  []string        `json:"shards"`
	}
	var queries []line
	readLines(t, "routing", func(b []byte) {
		var l line
		if err := json.Unmarshal(b, &l); err != nil {
			t.Fatal(err)
		}
		if l.Chunk == nil {
			queries = append(queries, l)
			return
		}
		keys[l.Coll] = rawJSON(t, l.Key)
		chunks[l.Coll] = append(chunks[l.Coll], rawJSON(t, l.Chunk))
	})
	tables := make(map[string]*Routing)
	for coll, key := range keys {
		tables[coll] = routingTable(t, key, chunks[coll])
	}
	for _, q := range queries {
		f, err := query.Parse(rawJSON(t, q.Query), nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(q.Want)
		if got := tables[q.Coll].Target(f); !slices.Equal(got, q.Want) {
			t.Errorf("%s %s: to %v, want %v", q.Coll, q.Query, got, q.Want)
		}
	}
	if len(queries) < 900 {
		t.Fatalf("only %d queries", len(queries))
	}
}

func TestExplainsTargetTheShardsOfTheRecordedWalks(t *testing.T) {
	for _, name := range []string{"walk-1", "walk-2", "walk-3"} {
		t.Run(name, func(t *testing.T) {
			p := newReplayer(t)
			n := 0
			for _, s := range readSteps(t, name) {
				if s.Kind != "command" {
					continue
				}
				cmd := rawJSON(t, s.Cmd)
				if e, err := cmd.IndexErr(0); err == nil && e.Key() == "explain" && s.Error == nil {
					n++
					p.explain(s, cmd.Lookup("explain").Document())
					continue
				}
				p.run(s.DB, cmd)
			}
			if n < 20 {
				t.Fatalf("only %d explains", n)
			}
		})
	}
}

func (p *replayer) explain(s step, find bson.Raw) {
	p.t.Helper()
	coll, ok := find.Lookup("find").StringValueOK()
	if !ok {
		return
	}
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	r := p.c.Routing(s.DB + "." + coll)
	if r == nil {
		return
	}
	filter, _ := find.Lookup("filter").DocumentOK()
	f, err := query.Parse(filter, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	var want []string
	list, _ := rawJSON(p.t, s.Reply).Lookup("queryPlanner", "winningPlan", "shards").Array().Values()
	for _, v := range list {
		want = append(want, v.Document().Lookup("shardName").StringValue())
	}
	slices.Sort(want)
	if got := r.Target(f); !slices.Equal(got, want) {
		p.t.Errorf("n %d: %s to %v, want %v", s.N, s.Cmd, got, want)
	}
}

// routingTableOfSize builds a table of n chunks on a ranged key.
func routingTableOfSize(n int) *Routing {
	p, _ := parsePattern(encode(bson.D{{Key: "p", Value: int32(1)}}))
	r := &Routing{Key: p.raw, pattern: p}
	list := make([]*Chunk, n)
	lo := p.min()
	for i := range list {
		hi := p.max()
		if i < n-1 {
			hi = encode(bson.D{{Key: "p", Value: int64(i+1) * 10}})
		}
		list[i] = &Chunk{Min: lo, Max: hi, Shard: fmt.Sprintf("s%d", i%3), Version: bson.Timestamp{T: 1, I: uint32(i)}, History: []Placement{{}}}
		lo = hi
	}
	r.setChunks(list)
	return r
}

func TestOwnerOfAKeyIsTheChunkThatHoldsIt(t *testing.T) {
	r := routingTableOfSize(1000)
	for key, want := range map[any]string{
		int64(-1): "s0", int64(9): "s0", int64(10): "s1", int32(10): "s1", 19.5: "s1", int64(20): "s2",
		int64(9990): "s0", "text": "s0", nil: "s0",
	} {
		d := encode(bson.D{{Key: "_id", Value: 1}, {Key: "p", Value: key}})
		k, err := r.KeyOf(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Owner(k); got != want {
			t.Errorf("owner of %v is %s, want %s", key, got, want)
		}
		if !r.Owns(want, d) {
			t.Errorf("%s does not own %v", want, key)
		}
	}
}

func TestArrayInAShardKeyIsRefused(t *testing.T) {
	_, err := routingTableOfSize(2).KeyOf(encode(bson.D{{Key: "p", Value: bson.A{1}}}))
	if err == nil || !strings.Contains(err.Error(), "array") {
		t.Fatalf(`got %v, want an error, …"array"…`, err)
	}
}

func BenchmarkOwnerAmong100000Chunks(b *testing.B) {
	r := routingTableOfSize(100_000)
	d := encode(bson.D{{Key: "_id", Value: 1}, {Key: "p", Value: int64(543_210)}})
	for b.Loop() {
		if !r.Owns("s0", d) {
			b.Fatal("not owned")
		}
	}
}
