package holdings

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// largeTable has one database with all collections of Yorkie's newest layout, hashed by document and of
// equal size on each shard, so that every project can be on every shard.
func largeTable(shards, chunks int, rowsPerShard int64) *topology.Table {
	table := &topology.Table{
		ClusterID: "c", Seq: 1, Loaded: true, Sizes: map[topology.Namespace]topology.Sizes{}, Databases: []topology.Database{{Name: "y"}},
	}
	var names []string
	for i := range shards {
		names = append(names, fmt.Sprintf("shard-%03d", i))
		table.Shards = append(table.Shards, topology.Shard{Name: names[i]})
	}
	for _, c := range profile.Yorkie().Layouts[0].Collections {
		ns := topology.Namespace("y." + c.Name)
		if c.Scope == profile.ScopeCluster {
			table.Unsharded = append(table.Unsharded, ns)
			continue
		}
		p := routing.Pattern("doc_id#")
		table.Collections = append(table.Collections, routing.Collection(ns, p, routing.Bounds(p, routing.EvenHashes(chunks)...), names...))
		sizes := topology.Sizes{NS: ns, Sharded: true, Shards: map[string]topology.Size{}}
		for _, s := range table.Shards {
			known := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n, Exact: true} }
			sizes.Shards[s.Name] = topology.Size{Documents: known(rowsPerShard), Bytes: known(rowsPerShard * 300), Orphans: known(0)}
		}
		table.Sizes[ns] = sizes
	}
	slices.SortFunc(table.Collections, func(a, b *topology.Collection) int { return slices.Compare([]byte(a.NS), []byte(b.NS)) })
	return table
}

// sampledRows are random rows of n projects, of which earlier ones have more.
func sampledRows(rng *rand.Rand, rows, projects int) []survey.SizedRow {
	out := make([]survey.SizedRow, rows)
	for i := range out {
		var doc, project bson.ObjectID
		binary.BigEndian.PutUint64(doc[:8], rng.Uint64())
		binary.BigEndian.PutUint32(project[:4], uint32(float64(projects)*math.Pow(rng.Float64(), 2)))
		key := must.Get(bson.Marshal(bson.D{{Key: "doc_id", Value: doc}}))
		out[i] = survey.SizedRow{Project: project, Bytes: 200 + rng.Int64N(200), Key: key}
	}
	return out
}

func largeSnapshot(shards, projects int) (*topology.Table, map[topology.Namespace][]survey.SizedRow) {
	table := largeTable(shards, 5000, 1_000_000)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := map[topology.Namespace][]survey.SizedRow{}
	for _, c := range table.Collections {
		rows[c.NS] = sampledRows(rng, maxWindow, projects)
	}
	return table, rows
}

func TestManyProjectsAreListedUpToALimitAndTheRestIsASum(t *testing.T) {
	table, rows := largeSnapshot(100, 100_000)
	s := FromRows(table, profile.Yorkie(), time.Unix(1, 0), rows)
	if len(s.Projects) != MaxProjects || s.Others.Projects == 0 {
		t.Fatalf("%d projects and %d others, want %d and some", len(s.Projects), s.Others.Projects, MaxProjects)
	}
	sums := map[string]int64{}
	for _, p := range s.Projects {
		for _, c := range p.Shards {
			must.That(t, c.Rows != 0, "%s has a cell without rows", p.ID.Hex())
			sums[c.Shard] += c.Rows
		}
	}
	for _, c := range s.Others.Shards {
		sums[c.Shard] += c.Rows
	}
	for _, total := range s.Totals {
		if off := float64(sums[total.Shard])/float64(total.Rows.Value) - 1; math.Abs(off) > 0.01 {
			t.Errorf("%s: the projects have %d rows, the shard %d", total.Shard, sums[total.Shard], total.Rows.Value)
		}
	}
}

func TestUnseenProjectHasAnUpperBoundAndIsNotZero(t *testing.T) {
	table, rows := largeSnapshot(4, 50)
	s := FromRows(table, profile.Yorkie(), time.Unix(1, 0), rows)
	for _, f := range s.Project("y", bson.NewObjectID()) {
		if f.Rows.Value != 0 || f.Rows.Exact || f.Rows.High <= 0 || f.Bytes.High <= 0 {
			t.Errorf("got %+v, want no value and an upper bound", f)
		}
	}
}

func TestStoredSampleIsReadAgainAsItWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table := largeTable(3, 30, 1000)
	ns := table.Collections[0].NS
	at := time.Unix(1_800_000_000, 0).UTC()
	s := &sample{Batches: []batch{{Begun: at, At: at, Rows: rowsOf(table, ns, sampledRows(rng, 200, 10))}}}
	s.Batches[0].Rows[7].Rows = 30
	body, err := encode(s)
	must.Do(t, err)
	again, err := decode(body)
	if err != nil || len(again.Batches) != 1 || !slices.Equal(again.Batches[0].Rows, s.Batches[0].Rows) || !again.Batches[0].At.Equal(at) {
		t.Errorf("%+v, %v", again, err)
	}
	for i := 0; i < len(body); i += 5 { // a damaged one is an error or another sample, never a panic
		damaged := slices.Clone(body)
		damaged[i] ^= 0x55
		_, _ = decode(damaged)
		_, _ = decode(body[:i])
	}

	// What an earlier release stored has no numbers of rows.
	var earlier bytes.Buffer
	w := must.Get(flate.NewWriter(&earlier, flate.BestSpeed))
	_ = must.Get(io.WriteString(w, `{"Shards":["a"],"Batches":[{"Keys":["AQ=="],"Projects":"AAAAAAAAAAAAAAAA","Bytes":[7],"Shard":[0]}]}`))
	must.Do(t, w.Close())
	again, err = decode(earlier.Bytes())
	if want := (row{Key: "\x01", Rows: 1, Bytes: 7, Shard: "a"}); err != nil || again.Batches[0].Rows[0] != want {
		t.Errorf("got %+v (%v), want %+v", again, err, want)
	}
}

// BenchmarkSnapshot builds the figures of 8 collections with full windows, 100,000 projects and 100
// shards, which is what reading rows of every collection anew would cost; chunks that moved in one
// collection cost an eighth of the placing.
func BenchmarkSnapshot(b *testing.B) {
	table, rows := largeSnapshot(100, 100_000)
	for b.Loop() {
		FromRows(table, profile.Yorkie(), time.Unix(1, 0), rows)
	}
}

// A collection that has grown out of counting is sampled beside the rows that were counted.
func TestCountedRowsOfOneKeyAreTakenAsOfOneSize(t *testing.T) {
	var together, single cell
	together.add(row{Rows: 4, Bytes: 40}, false)
	for range 4 {
		single.add(row{Rows: 1, Bytes: 10}, false)
	}
	if together != single {
		t.Errorf("%+v, want %+v", together, single)
	}
}
