package actions

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	db       = "yorkie-meta"
	megabyte = 1 << 20
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// oid makes an id that sorts by n.
func oid(n byte) bson.ObjectID { return bson.ObjectID{0: 1, 11: n} }

func pattern(t testing.TB, fields ...bson.E) shardkey.Pattern {
	t.Helper()
	return must.Get(shardkey.ParsePattern(doc(bson.D(fields))))
}

func doc(d any) bson.Raw { return must.Get(bson.Marshal(d)) }

// keyOf makes the bound with these values, in the order of the fields.
func keyOf(t testing.TB, p shardkey.Pattern, values ...any) shardkey.Key {
	t.Helper()
	var d bson.D
	for i, v := range values {
		d = append(d, bson.E{Key: p.Fields()[i].Name, Value: v})
	}
	return must.Get(p.PrefixBound(doc(d)))
}

// collection makes a collection with a chunk between each two bounds. owners[i] is the
// shard of chunk i; a capital letter makes the chunk jumbo.
func collection(t testing.TB, ns topology.Namespace, p shardkey.Pattern, bounds []shardkey.Key, owners string) *topology.Collection {
	t.Helper()
	must.That(t, len(owners) == len(bounds)+1, "%s: %d owners for %d bounds", ns, len(owners), len(bounds))
	all := append(append([]shardkey.Key{p.Min()}, bounds...), p.Max())
	var rows []topology.Chunk
	for i, o := range owners {
		rows = append(rows, topology.Chunk{Min: all[i], Max: all[i+1], Shard: string(o | 0x20), Jumbo: o < 'a',
			Version: topology.Version{Major: 1, Minor: uint32(i)}})
	}
	chunks := must.Get(topology.BuildChunks(p, rows))
	m := topology.Meta{
		NS:          ns,
		Key:         p,
		Incarnation: topology.Incarnation{UUID: [16]byte{1, byte(len(ns))}, Epoch: oid(byte(len(ns))), Timestamp: bson.Timestamp{T: 7, I: 1}},
	}
	return &topology.Collection{Meta: m, Chunks: chunks}
}

// cluster makes a situation with four projects (alpha 10, beta 20, gamma 30 and
// delta 40) on shards a, b and c, in the layout of Yorkie 0.4 or 0.6.38.
//
//	documents  {project_id: 1}                …a 20 b 40 c…
//	clients    0.4: the same; 0.6.38: {project_id: 1, _id: "hashed"} …a [20,0] b [30,MinKey] c…
//	changes    0.4: {doc_id: 1}; 0.6.38: {doc_id: "hashed"}, over a, b and c
func cluster(t testing.TB, layout, version string, change ...func(*Situation)) Situation {
	t.Helper()
	one := bson.E{Key: "project_id", Value: int32(1)}
	documents := pattern(t, one)
	docBounds := []shardkey.Key{keyOf(t, documents, oid(20)), keyOf(t, documents, oid(40))}
	all := []*topology.Collection{collection(t, db+".documents", documents, docBounds, "abc")}
	if layout == "0.4" {
		ranged := pattern(t, bson.E{Key: "doc_id", Value: int32(1)})
		all = append(all,
			collection(t, db+".clients", documents, docBounds, "abc"),
			collection(t, db+".changes", ranged, []shardkey.Key{keyOf(t, ranged, oid(100)), keyOf(t, ranged, oid(200))}, "abc"))
	} else {
		clients := pattern(t, one, bson.E{Key: "_id", Value: "hashed"})
		hashed := pattern(t, bson.E{Key: "doc_id", Value: "hashed"})
		all = append(all,
			collection(t, db+".clients", clients, []shardkey.Key{keyOf(t, clients, oid(20), int64(0)), keyOf(t, clients, oid(30))}, "abc"),
			collection(t, db+".changes", hashed, []shardkey.Key{keyOf(t, hashed, int64(-3e18)), keyOf(t, hashed, int64(3e18))}, "abc"))
	}
	slices.SortFunc(all, byName)
	tab := &topology.Table{
		ClusterID: "c1", Loaded: true, Built: now, ServerInfo: topology.ServerInfo{Version: version}, Collections: all,
		Shards:    []topology.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Databases: []topology.Database{{Name: db, Primary: "a"}},
		Unsharded: []topology.Namespace{db + ".projects", db + ".users"},
		Balancer:  topology.Balancer{Known: true, Mode: "off", Stopped: true, StatusKnown: true, ChunkBytes: 128 * megabyte},
		Sizes:     map[topology.Namespace]topology.Sizes{},
		Health:    map[topology.Part]topology.Health{},
	}
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartZones, topology.PartSettings,
		topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartDisks} {
		tab.Health[p] = topology.Health{At: now}
	}
	setDisks(tab, 1000, 1000, 1000)
	for _, c := range all {
		setSizes(tab, c.NS, 40, 20, 10)
	}
	var projects []placement.Project
	for n, name := range map[byte]string{10: "alpha", 20: "beta", 30: "gamma", 40: "delta"} {
		projects = append(projects, placement.Project{DB: db, ID: oid(n), Name: name, PublicKey: "pk-" + name})
	}
	s := Situation{
		Table: tab, Profile: profile.Yorkie(), Release: balance.ReleaseOf(version), Now: now, SharedAt: now.Add(-time.Hour),
		Directory: placement.NewDirectory(1, []string{db}, projects, topology.Health{At: now}),
		Activity:  operation.Activity{Known: true, At: now}, Flags: Flags{At: now},
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

func raw(c *topology.Collection, k shardkey.Key) bson.Raw { return must.Get(c.Key.Document(k)) }

// chunkAt returns the bounds of chunk i.
func chunkAt(t testing.TB, s Situation, ns topology.Namespace, i int) [2]bson.Raw {
	c := s.Table.Collection(ns)
	ch := c.Chunks.At(i)
	return [2]bson.Raw{raw(c, ch.Min), raw(c, ch.Max)}
}

// plan makes a draft, and fails the test if it is refused.
func plan(t testing.TB, s Situation, kind Kind, a Args) (Draft, Args) {
	t.Helper()
	d, resolved, err := PlanChange(s, kind, a)
	must.That(t, err == nil, "%s: %v", kind, err)
	checkTexts(t, d)
	return d, resolved
}

var placeholder = regexp.MustCompile(`\{([a-z]+)\}`)

// checkTexts checks that every message of a draft has a text, and a fact for each name in it.
func checkTexts(t interface {
	Helper()
	Errorf(string, ...any)
}, d Draft) {
	t.Helper()
	all := append([]message.Message{d.Summary, d.Undo.Text}, d.Effect.Stays...)
	for _, c := range d.Checks {
		all = append(all, c.Text, c.Source)
	}
	for _, m := range all {
		expect.That(t, m.Code != "" && m.Pattern != "", "a message without a code or text: %+v", m)
		for _, name := range placeholder.FindAllStringSubmatch(m.Pattern, -1) {
			if _, ok := m.Fact(name[1]); !ok {
				t.Errorf("%s has no %s: %s", m.Code, name[1], m.Pattern)
			}
		}
	}
	for _, f := range []topology.Figure{d.Effect.Chunks, d.Effect.Bytes, d.Effect.Documents, d.Effect.Duration} {
		if f.Known && strings.HasPrefix(topology.MethodText(f.Method), "Measured by ") ||
			!f.Known && strings.HasPrefix(topology.ReasonText(f.Reason), "unknown") {
			t.Errorf("no text for the figure %+v", f)
		}
	}
}

// worstVerdict returns the worst verdict of the checks with an id, and its code; "" for none.
func worstVerdict(d Draft, id string) (v Verdict, code string) {
	rank := map[Verdict]int{"": 0, Pass: 1, Warn: 2, Block: 3}
	for _, c := range d.Checks {
		if c.ID == id && rank[c.Verdict] > rank[v] {
			v, code = c.Verdict, c.Text.Code
		}
	}
	return v, code
}

// version makes it another release than the cluster was made with.
func version(v string) func(*Situation) {
	return func(s *Situation) { s.Release, s.Table.ServerInfo.Version = balance.ReleaseOf(v), v }
}

// fixed are arguments that do not depend on the situation.
func fixed(a Args) func(Situation) Args { return func(Situation) Args { return a } }

// ofChunk are the bounds of a chunk of documents, and a shard.
func ofChunk(t testing.TB, i int, to string) func(Situation) Args {
	return func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, i), To: to} }
}

// checkCase is a plan of which one check is looked at.
type checkCase struct {
	name    string
	kind    Kind
	args    func(Situation) Args
	verdict Verdict // "": there is no check with the id code
	code    string
	change  []func(*Situation)
}

func caseOf(name string, k Kind, args func(Situation) Args, v Verdict, code string, change ...func(*Situation)) checkCase {
	return checkCase{name, k, args, v, code, change}
}

// runChecks looks for a check with the code, which must be the worst of its id.
func runChecks(t *testing.T, layout string, cases []checkCase) {
	t.Helper()
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			s := cluster(t, layout, "5.0.7", x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			id := x.code
			for _, c := range d.Checks {
				if c.Text.Code == x.code {
					id = c.ID
				}
				expect.That(t, c.Text.Code != "" && c.Source.Code != "", "%s says nothing or gives no source: %+v", c.ID, c)
			}
			v, code := worstVerdict(d, id)
			if x.verdict == "" {
				x.code = ""
			}
			expect.That(t, v == x.verdict && code == x.code, "%s %s, want %s %s\n%+v", v, code, x.verdict, x.code, d.Checks)
		})
	}
}

// ops returns the ops of the steps.
func ops(d Draft) []operation.Op {
	var out []operation.Op
	for _, s := range d.Steps {
		out = append(out, s.Op)
	}
	return out
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// setSizes sets the megabytes of a collection on each shard.
func setSizes(tab *topology.Table, ns topology.Namespace, mb ...int64) {
	s := topology.Sizes{NS: ns, At: now, Shards: map[string]topology.Size{}, Sharded: true}
	for i, n := range mb {
		exact := topology.Figure{Known: true, Exact: true, Method: "collStats", At: now}
		size := topology.Size{Bytes: exact, Documents: exact}
		size.Bytes.Value, size.Documents.Value = n*megabyte, n*1000
		s.Shards[tab.Shards[i].Name] = size
	}
	tab.Sizes[ns] = s
}

// setDisks gives each shard a disk of 10,000 MB with this much used.
func setDisks(tab *topology.Table, mb ...int64) {
	tab.Disks = map[string]topology.Disk{}
	for i, n := range mb {
		f := topology.Figure{Known: true, Exact: true, Method: "dbStats", At: now}
		d := topology.Disk{Used: f, Total: f}
		d.Used.Value, d.Total.Value = n*megabyte, 10_000*megabyte
		tab.Disks[tab.Shards[i].Name] = d
	}
}

func collectionIn(s *Situation, ns topology.Namespace) *topology.Collection {
	return s.Table.Collection(ns)
}

// withOwners sets the shards of a collection's chunks, one letter per chunk.
func withOwners(t testing.TB, ns topology.Namespace, owners string) func(*Situation) {
	return func(s *Situation) {
		c := collectionIn(s, ns)
		var rows []topology.Chunk
		for i, ch := range c.Chunks.All() {
			o := rune(owners[i])
			ch.Shard, ch.Jumbo = string(o|0x20), o < 'a'
			rows = append(rows, ch)
		}
		chunks := must.Get(topology.BuildChunks(c.Key, rows))
		c.Chunks = chunks
	}
}

// zone adds shards to a zone and assigns a range of a collection to it.
func zone(t testing.TB, name, shards string, ns topology.Namespace, lo, hi func(p shardkey.Pattern) shardkey.Key) func(*Situation) {
	return func(s *Situation) {
		for i := range s.Table.Shards {
			if slices.Contains([]byte(shards), s.Table.Shards[i].Name[0]) {
				s.Table.Shards[i].Zones = append(s.Table.Shards[i].Zones, name)
			}
		}
		c := collectionIn(s, ns)
		z := topology.ZoneRange{NS: ns, Zone: name, Min: lo(c.Key), Max: hi(c.Key)}
		z.RawMin, z.RawMax = raw(c, z.Min), raw(c, z.Max)
		s.Table.Zones = append(s.Table.Zones, z)
		slices.SortFunc(s.Table.Zones, func(a, b topology.ZoneRange) int {
			if a.NS != b.NS {
				return byName(&topology.Collection{Meta: topology.Meta{NS: a.NS}}, &topology.Collection{Meta: topology.Meta{NS: b.NS}})
			}
			return a.Min.Compare(b.Min)
		})
	}
}

func from(t testing.TB, n byte) func(shardkey.Pattern) shardkey.Key {
	return func(p shardkey.Pattern) shardkey.Key { return keyOf(t, p, oid(n)) }
}

func balancing(s *Situation) { s.Table.Balancer.Mode, s.Table.Balancer.Stopped = "full", false }

func draining(shard string) func(*Situation) {
	return func(s *Situation) { s.Table.Shard(shard).Draining = true }
}
