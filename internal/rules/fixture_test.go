package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// change is one difference from the healthy cluster.
type change func(*Situation)

// healthy is a cluster of three shards with Yorkie's collections in which no rule finds
// a problem and no rule is unsure.
func healthy(changes ...change) Situation {
	t := &topology.Table{
		ClusterID: "c1", Loaded: true, ServerInfo: topology.ServerInfo{Version: "7.0.5"},
		Shards:    []topology.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Databases: []topology.Database{{Name: "y", Primary: "a"}},
		Unsharded: []topology.Namespace{"y.clusternodes", "y.invites", "y.members", "y.projects", "y.snapshot_bodies", "y.users"},
		Balancer:  topology.Balancer{Known: true, Mode: "full", ChunkBytes: 128 * mib},
		Sizes:     map[topology.Namespace]topology.Sizes{}, Health: map[topology.Part]topology.Health{},
	}
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones,
		topology.PartSettings,
		topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections, topology.PartDisks} {
		t.Health[p] = topology.Health{At: now}
	}
	s := Situation{Table: t, Profile: profile.Yorkie(), Now: now, Counting: true, Pins: map[string]Pin{}}
	setDisks(20, 20, 20)(&s)
	for _, c := range profile.Yorkie().Layouts[0].Collections {
		if c.Expected != "" {
			addCollection(&s, "y."+c.Name, c.Expected, "abc")
		}
	}
	for _, ns := range t.Unsharded {
		setSize(&s, string(ns), "a", mib, 100, 0)
	}
	s.Directory = directory(4)
	s.Writes = []Writes{{NS: "y.changes", Over: Window, Seconds: 900, To: now, Total: heat.Rate{PerSecond: 40, Exact: true, Rows: 36000},
		Projects: []heat.Line{projectLine(1, 12, 0.3), projectLine(2, 10, 0.25)},
		Shards:   []heat.Line{shardLine("a", 15), shardLine("b", 13), shardLine("c", 12)}}}
	load := heat.Load{Known: true, Over: 30 * time.Second, From: now, To: now, ReadsPerSecond: 20, ReadLatency: time.Millisecond}
	s.Loads = Loads{"y.changes": {"a": load, "b": load, "c": load}}
	for _, f := range changes {
		f(&s)
	}
	return s
}

func projectLine(project int, perSecond, share float64) heat.Line {
	return heat.Line{Project: oid(project), Rate: heat.Rate{PerSecond: perSecond, Exact: true, Share: share, Rows: int64(perSecond * 900)}}
}

func shardLine(shard string, perSecond float64) heat.Line {
	return heat.Line{Chunk: -1, Shard: shard, Rate: heat.Rate{PerSecond: perSecond, Exact: true, Rows: int64(perSecond * 900)}}
}

func oid(n int) (id bson.ObjectID) {
	id[0], id[11] = 0x65, byte(n)
	return id
}

func directory(n int) *placement.Directory {
	var list []placement.Project
	for i := 1; i <= n; i++ {
		list = append(list, placement.Project{DB: "y", ID: oid(i), Name: fmt.Sprintf("p%d", i),
			Clients: topology.Figure{Known: true, Value: 100, Method: "projectStats", At: now}})
	}
	return placement.NewDirectory(1, []string{"y"}, list, topology.Health{At: now})
}

func pattern(text string) shardkey.Pattern {
	var d bson.D
	for part := range strings.SplitSeq(strings.Trim(text, "{}"), ", ") {
		name, kind, _ := strings.Cut(part, ": ")
		if kind == "1" {
			d = append(d, bson.E{Key: name, Value: int32(1)})
		} else {
			d = append(d, bson.E{Key: name, Value: "hashed"})
		}
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		panic(err)
	}
	return p
}

// addCollection adds a collection with one chunk for each letter, which names the
// owner; a capital letter is a jumbo chunk. The bounds are project ids 1, 2, …, or
// hashes.
func addCollection(s *Situation, ns, key, owners string) {
	p := pattern(key)
	first := p.Fields()[0]
	bounds := []shardkey.Key{p.Min()}
	for i := 1; i < len(owners); i++ {
		var v any = oid(i)
		if first.Hashed {
			v = int64(i) * (1 << 40)
		}
		raw, err := bson.Marshal(bson.D{{Key: first.Name, Value: v}})
		if err != nil {
			panic(err)
		}
		k, err := p.PrefixBound(raw)
		if err != nil {
			panic(err)
		}
		bounds = append(bounds, k)
	}
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i, o := range owners {
		rows = append(rows, topology.Chunk{Min: bounds[i], Max: bounds[i+1], Shard: string(o | 0x20),
			Jumbo: o < 'a', Version: topology.Version{Major: uint32(i + 1)}})
	}
	m, err := topology.BuildChunks(p, rows)
	if err != nil {
		panic(err)
	}
	c := &topology.Collection{
		Meta:   topology.Meta{NS: topology.Namespace(ns), Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{byte(len(ns))}}},
		Chunks: m, Highest: m.Highest()}
	t := s.Table
	t.Collections = slices.DeleteFunc(t.Collections, func(o *topology.Collection) bool { return o.NS == c.NS })
	t.Collections = append(t.Collections, c)
	slices.SortFunc(t.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	delete(t.Sizes, c.NS)
	for _, shard := range t.Shards {
		if m.CountByShard()[shard.Name] > 0 || len(owners) < len(t.Shards) {
			setSize(s, ns, shard.Name, 64*mib, 1000, 0)
		}
	}
}

func setSize(s *Situation, ns, shard string, bytes, rows, orphans int64) {
	f := func(n int64) topology.Figure {
		return topology.Figure{Known: true, Exact: true, Value: n, Method: "collStats", At: now}
	}
	z := s.Table.Sizes[topology.Namespace(ns)]
	z.NS, z.At = topology.Namespace(ns), now
	if z.Shards == nil {
		z.Shards = map[string]topology.Size{}
	}
	z.Shards[shard] = topology.Size{Bytes: f(bytes), Documents: f(rows), Orphans: f(orphans), Storage: f(bytes / 2), Indexes: f(bytes / 4)}
	s.Table.Sizes[z.NS] = z
}

// oneMachine puts all shards on one machine.
func oneMachine(s *Situation) {
	for i := range s.Table.Shards {
		s.Table.Shards[i].Hosts = []string{"m:2701" + strconv.Itoa(i)}
	}
}

// setDisks gives the shards disks of 100 GiB with this many GiB used; a negative number
// is an unknown disk.
func setDisks(used ...int64) change {
	return func(s *Situation) {
		s.Table.Disks = map[string]topology.Disk{}
		for i, n := range used {
			f := topology.Figure{Known: true, Exact: true, Method: "dbStats", At: now}
			d := topology.Disk{Used: f, Total: f}
			if d.Used.Value, d.Total.Value = n*gib, 100*gib; n < 0 {
				d = topology.NoDisk("noDisk")
			}
			s.Table.Disks[s.Table.Shards[i].Name] = d
		}
	}
}

// addZone assigns a range of project ids [from, to) of documents to a zone, and the
// zone to its carriers.
func addZone(name, carriers string, from, to int) change {
	return func(s *Situation) {
		p := pattern("{project_id: 1}")
		bound := func(n int) (shardkey.Key, bson.Raw) {
			raw, err := bson.Marshal(bson.D{{Key: "project_id", Value: oid(n)}})
			if err != nil {
				panic(err)
			}
			k, err := p.Bound(raw)
			if err != nil {
				panic(err)
			}
			return k, raw
		}
		z := topology.ZoneRange{NS: "y.documents", Zone: name}
		z.Min, z.RawMin = bound(from)
		z.Max, z.RawMax = bound(to)
		if from < to {
			s.Table.Zones = append(s.Table.Zones, z)
		}
		assignZone(name, carriers)(s)
	}
}

func assignZone(zone, carriers string) change {
	return func(s *Situation) {
		for i := range s.Table.Shards {
			if strings.Contains(carriers, s.Table.Shards[i].Name) {
				s.Table.Shards[i].Zones = append(s.Table.Shards[i].Zones, zone)
			}
		}
	}
}

func withoutPart(p topology.Part) change {
	return func(s *Situation) { s.Table.Health[p] = topology.Health{Denied: true, Privilege: "find"} }
}

func withCollection(ns, key, owners string) change {
	return func(s *Situation) { addCollection(s, ns, key, owners) }
}
func withSize(ns, shard string, bytes, rows, orphans int64) change {
	return func(s *Situation) { setSize(s, ns, shard, bytes, rows, orphans) }
}

// evaluateRule returns the result of one rule: its problems, its uncertainties and
// whether it passed.
func evaluateRule(s Situation, rule Rule) (items []Problem, unsure []Unsure, passed bool) {
	r := Evaluate(s)
	for _, i := range r.Items {
		if i.Rule == rule {
			items = append(items, i)
		}
	}
	for _, u := range r.Unsure {
		if u.Rule == rule {
			unsure = append(unsure, u)
		}
	}
	return items, unsure, slices.Contains(r.Passed, rule)
}

func TestHealthyClusterHasNoProblemsAndNoRuleIsUnsure(t *testing.T) {
	r := Evaluate(healthy())
	for _, i := range r.Items {
		t.Errorf("%s fires with %s on %q in the healthy cluster", i.Rule, i.Text.Code, i.Subject)
	}
	for _, u := range r.Unsure {
		t.Errorf("%s is unsure about %q in the healthy cluster: %s", u.Rule, u.Subject, u.Why.Code)
	}
	expect.That(t, len(r.Passed) == len(Rules()), "%d of %d rules passed", len(r.Passed), len(Rules()))
}
