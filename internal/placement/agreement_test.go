package placement_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Every version is tested with every layout. A further version or layout is added as
// one more word here.
var (
	agreementVersions = []string{"5.0", "4.4", "6.0", "7.0", "8.0"}
	agreementLayouts  = []string{"yorkie-head", "yorkie-0.6.38", "yorkie-0.6.20", "yorkie-0.5.7", "yorkie-0.4"}
)

// agreementKeys are shard keys of every kind, in addition to those of the layouts.
var agreementKeys = map[string]bson.D{
	"ranged":         {{Key: "a", Value: 1}},
	"hashed":         {{Key: "a", Value: "hashed"}},
	"compound":       {{Key: "a", Value: 1}, {Key: "b", Value: 1}},
	"compoundHashed": {{Key: "a", Value: 1}, {Key: "b", Value: "hashed"}},
	"hashedFirst":    {{Key: "a", Value: "hashed"}, {Key: "b", Value: 1}},
	"nested":         {{Key: "a.b", Value: 1}, {Key: "c.d", Value: "hashed"}},
}

const agreementDB = "agreement"

// slowdown divides the number of keys where each costs more. `make test` and `make
// long` test all of them in a run without the race detector.
var slowdown = 1

// agreementLocates is the number of keys for all clusters together.
func agreementLocates() int {
	switch {
	case os.Getenv("SHARDBOARD_LONG") == "hours":
		return 1_000_000 / slowdown
	case testing.Short():
		return 3000
	}
	return 100_000 / slowdown
}

// For keys of random BSON types, many of them chunk bounds, our shard must be the one
// to which the cluster's explain would send a query by that key. Explain uses the
// simulated cluster's routing code, which shares nothing with ours.
func TestLocateNamesTheShardThatExplainTargets(t *testing.T) {
	versions := agreementVersions
	if testing.Short() {
		versions = versions[:1]
	}
	each := agreementLocates() / (len(versions) * len(agreementLayouts))
	for i, version := range versions {
		for j, layout := range agreementLayouts {
			t.Run(version+"/"+layout, func(t *testing.T) {
				t.Parallel()
				o := simcluster.Options{ServerVersion: version, Layout: layout, Shards: 7, Projects: 12, Documents: 120, Still: true}
				simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
					checkAgreement(t, c, valueGenerator{rand.New(rand.NewPCG(uint64(i), uint64(j)))}, each)
				})
			})
		}
	}
}

func checkAgreement(t *testing.T, sim *simulated.Cluster, draw valueGenerator, locates int) {
	sim.Do(t, "admin", bson.D{{Key: "enableSharding", Value: agreementDB}})
	for name, key := range agreementKeys {
		sim.Do(t, "admin", bson.D{{Key: "shardCollection", Value: agreementDB + "." + name}, {Key: "key", Value: key}})
	}
	splitAndScatter(t, sim, draw)
	table := must.Get(sim.Watcher.Load(t.Context()))
	drift := profile.Yorkie().DriftOf(table, "yorkie-meta", "")
	expect.That(t, strings.HasSuffix(t.Name(), "/"+drift.Nearest) && drift.Looks() == 0, "the layout is taken for %+v", drift)
	l := placement.NewLocator(nil, fixedTable{table}, fixedTable{table}, profile.Yorkie())
	asked, bounds := 0, 0
	for asked < locates {
		for _, c := range table.Collections {
			if c.NS.Database() == "config" {
				continue
			}
			q := draw.sampleKey(t, c)
			compareWithExplain(t, sim, l, c, q, asked%10 == 0)
			asked++
			if q.bound {
				bounds++
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d locates in %d collections, %d of them at a bound: no mismatch", asked, len(table.Collections), bounds)
}

// compareWithExplain compares our answer with the cluster's. The whole Locate, which
// starts at Extended JSON, is slower and is only called if whole is set.
func compareWithExplain(t *testing.T, sim *simulated.Cluster, l *placement.Locator, c *topology.Collection, q sampleKey, whole bool) {
	t.Helper()
	ours := must.Get(placement.Owner(c, q.values...))
	filter := bson.D{}
	for i, f := range c.Key.Fields() {
		filter = append(filter, bson.E{Key: f.Name, Value: bson.D{{Key: "$eq", Value: q.values[i]}}})
	}
	reply := sim.Do(t, c.NS.Database(), bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: c.NS.Collection()},
		{Key: "filter", Value: filter}}}, {Key: "verbosity", Value: "queryPlanner"}})
	shards, err := reply.Lookup("queryPlanner", "winningPlan", "shards").Array().Values()
	if err != nil || len(shards) != 1 || shards[0].Document().Lookup("shardName").StringValue() != ours {
		t.Errorf("%s %s is on %s by our table; explain: %s", c.NS, q.values, ours, reply.Lookup("queryPlanner", "winningPlan", "shards"))
	}
	if !whole {
		return
	}
	doc := bson.D{}
	for i, f := range c.Key.Fields() {
		doc = append(doc, bson.E{Key: f.Name, Value: q.values[i]})
	}
	text := must.Get(bson.MarshalExtJSON(doc, true, false))
	items, err := l.Locate(t.Context(), placement.Query{NS: c.NS, Key: string(text)})
	if err != nil {
		t.Errorf("%s %s: %v", c.NS, text, err)
	} else if len(items) != 1 || len(items[0].Places) != 1 || len(items[0].Places[0].Shards) != 1 || items[0].Places[0].Shards[0] != ours {
		t.Errorf("%s %s: located at %+v, owned by %s", c.NS, text, items, ours)
	}
}

// fixedTable is a routing table that does not change, without projects.
type fixedTable struct{ t *topology.Table }

func (s fixedTable) Table() *topology.Table { return s.t }
func (s fixedTable) Directory() *placement.Directory {
	return placement.NewDirectory(1, nil, nil, topology.Health{})
}

// splitAndScatter splits every collection at random keys and moves chunks to random
// shards, so that adjacent chunks have different owners.
func splitAndScatter(t *testing.T, sim *simulated.Cluster, draw valueGenerator) {
	t.Helper()
	for _, c := range must.Get(sim.Watcher.Load(t.Context())).Collections {
		if c.NS.Database() == "config" {
			continue
		}
		for range 25 {
			middle := must.Get(c.Key.Document(draw.bound(t, c.Key)))
			// Splitting at an existing bound fails, which does no harm.
			_, _ = sim.Command(t.Context(), "admin", bson.D{{Key: "split", Value: string(c.NS)}, {Key: "middle", Value: middle}})
		}
	}
	table := must.Get(sim.Watcher.Load(t.Context()))
	for _, c := range table.Collections {
		if c.NS.Database() == "config" {
			continue
		}
		for i, chunk := range c.Chunks.All() {
			lo, hi := must.Get(c.Key.Document(chunk.Min)), must.Get(c.Key.Document(chunk.Max))
			to := table.Shards[draw.IntN(len(table.Shards))].Name
			if to == chunk.Shard && i > 0 {
				continue
			}
			sim.Do(t, "admin", bson.D{{Key: "moveChunk", Value: string(c.NS)}, {Key: "bounds", Value: bson.A{lo, hi}}, {Key: "to", Value: to}})
		}
	}
}

// sampleKey is a document's shard key before hashing.
type sampleKey struct {
	values []bson.RawValue
	bound  bool // taken from a chunk's bound
}

type valueGenerator struct{ *rand.Rand }

func (d valueGenerator) sampleKey(t *testing.T, c *topology.Collection) sampleKey {
	t.Helper()
	q := sampleKey{values: make([]bson.RawValue, c.Key.Len())}
	ids := c.NS.Database() != agreementDB
	var near []bson.RawValue
	if d.IntN(3) == 0 {
		var err error
		near, err = c.Key.Values(c.Chunks.At(d.IntN(c.Chunks.Len())).Min)
		must.Do(t, err)
	}
	for i, f := range c.Key.Fields() {
		switch {
		case near != nil && !f.Hashed:
			q.values[i], q.bound = near[i], true
		case ids && d.IntN(8) > 0:
			q.values[i] = rawValue(d.objectID())
		default:
			q.values[i] = d.value(2)
		}
	}
	return q
}

// bound returns a key at which a chunk can be split; hashed fields are given as hashes.
func (d valueGenerator) bound(t *testing.T, p shardkey.Pattern) shardkey.Key {
	t.Helper()
	doc := bson.D{}
	for _, f := range p.Fields() {
		v := d.value(1)
		for v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey {
			v = d.value(1)
		}
		switch {
		case f.Hashed:
			v = rawValue(int64(d.Uint64()))
		case d.IntN(3) == 0:
			v = rawValue(d.objectID())
		}
		doc = append(doc, bson.E{Key: f.Name, Value: v})
	}
	raw := must.Get(bson.Marshal(doc))
	return must.Get(p.Bound(raw))
}

func rawValue(v any) bson.RawValue {
	typ, value, err := bson.MarshalValue(v)
	if err != nil {
		panic(err) // cannot happen: all values are made in this file
	}
	return bson.RawValue{Type: typ, Value: value}
}

// value returns a random value of any type that a shard key and an equality can have:
// no array, no regular expression, not undefined. Values are similar, so that
// comparisons reach their last byte.
func (d valueGenerator) value(depth int) bson.RawValue {
	kinds := 15
	if depth > 0 {
		kinds = 17
	}
	switch d.IntN(kinds) {
	case 0:
		return rawValue(int32(d.IntN(40) - 20))
	case 1:
		return rawValue(int64(d.Uint64()) >> d.IntN(64))
	case 2:
		return rawValue(d.double())
	case 3:
		return rawValue(d.decimal())
	case 4, 5:
		return rawValue(d.text())
	case 6:
		return rawValue(bson.Symbol(d.text()))
	case 7:
		return rawValue(bson.Binary{Subtype: []byte{0, 3, 4, 5, 128}[d.IntN(5)], Data: []byte(d.text())})
	case 8, 9:
		return rawValue(d.objectID())
	case 10:
		return rawValue(d.IntN(2) == 0)
	case 11:
		return rawValue(bson.NewDateTimeFromTime(time.UnixMilli(d.Int64N(1<<42) - 1<<41)))
	case 12:
		return rawValue(bson.Timestamp{T: d.Uint32(), I: d.Uint32() >> 28})
	case 13:
		return rawValue(bson.JavaScript(d.text()))
	case 14:
		return []bson.RawValue{{Type: bson.TypeNull}, {Type: bson.TypeMinKey}, {Type: bson.TypeMaxKey}}[d.IntN(3)]
	case 15:
		return rawValue(bson.CodeWithScope{Code: bson.JavaScript(d.text()), Scope: d.document(depth - 1)})
	}
	return rawValue(d.document(depth - 1))
}

func (d valueGenerator) document(depth int) bson.D {
	doc := bson.D{}
	for i := range d.IntN(3) {
		doc = append(doc, bson.E{Key: string(rune('u' + 2*i + d.IntN(2))), Value: d.value(depth)})
		if d.IntN(2) == 0 {
			break
		}
	}
	return doc
}

// objectID returns an id from the year of the workload's data, or from any year.
func (d valueGenerator) objectID() bson.ObjectID {
	var id bson.ObjectID
	for i := range id {
		id[i] = byte(d.Uint32())
	}
	if d.IntN(2) == 0 {
		copy(id[:], []byte{0x69, byte(d.IntN(256))})
	}
	return id
}

func (d valueGenerator) text() string {
	var b strings.Builder
	for range d.IntN(5) {
		b.WriteString([]string{"a", "b", "ab", "\x00", "\x01", "é", "\U0010ffff", "~"}[d.IntN(8)])
	}
	return b.String()
}

func (d valueGenerator) double() float64 {
	switch d.IntN(4) {
	case 0:
		return []float64{0.1, 0.5, -0.5, 1.5, math.Exp2(53), math.Exp2(63), -math.Exp2(63), math.Exp2(64), 1e300, -1e300, 5e-324,
			math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}[d.IntN(15)]
	case 1:
		return math.Float64frombits(d.Uint64())
	}
	return float64(d.IntN(4000)-2000) / 100
}

func (d valueGenerator) decimal() bson.Decimal128 {
	texts := []string{"0", "-0", "1", "1.0", "1.5", "-1.5", "0.1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"1E+6144", "1E-6176", "NaN", "Infinity", "-Infinity", "2.5", "3.5", "1E+40"}
	v, err := bson.ParseDecimal128(texts[d.IntN(len(texts))])
	if err != nil {
		panic(err) // cannot happen: the texts are valid
	}
	return v
}
