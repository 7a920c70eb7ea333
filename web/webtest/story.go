package webtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// DiskOf is a disk of total GiB of which some are used, read at a time.
func DiskOf(used, total int64, at time.Time) topology.Disk {
	f := topology.Figure{Known: true, Exact: true, Method: "dbStats", At: at}
	d := topology.Disk{Used: f, Total: f}
	d.Used.Value, d.Total.Value = used<<30, total<<30
	return d
}

// Story is a cluster as people have it: Yorkie’s collections on some shards, projects of very different size,
// an hour of changelog.
type Story struct {
	Shards   int
	Projects int
	Chunks   int // of changes
	Rand     *rand.Rand
	change   []func(*topology.Table)
}

// NewStory has 3 shards, 60 projects and 24 chunks of changes. Set the fields for another size.
func NewStory() *Story {
	return &Story{Shards: 3, Projects: 60, Chunks: 24, Rand: rand.New(rand.NewPCG(7, 7))}
}

// With applies f to the table when it is made.
func (s *Story) With(f func(*topology.Table)) *Story {
	s.change = append(s.change, f)
	return s
}

// View is the story as handlers see it.
func (s *Story) View() answer.View {
	v := answer.View{Now: Epoch, Table: s.Table(), Dir: s.directory(), Profile: profile.Yorkie()}
	for _, f := range s.change {
		f(v.Table)
	}
	return v
}

func (s *Story) Shard(i int) string { return fmt.Sprintf("shard-rs-%d", i+1) }

func (s *Story) ProjectIDs() []bson.ObjectID {
	ids := make([]bson.ObjectID, s.Projects)
	for i := range ids {
		ids[i] = bson.NewObjectIDFromTimestamp(Epoch.Add(-time.Duration(s.Projects-i) * 36 * time.Hour))
		copy(ids[i][4:], []byte{0x6b, 1, byte(i), 0x2e, byte(i * 7), 0x31, 0x62, byte(i)})
	}
	return ids
}

// Table makes the table, without the changes of With.
func (s *Story) Table() *topology.Table {
	t := &topology.Table{
		ClusterID: "6920a1b2c3d4e5f60718293a", Seq: 412, Built: Epoch, Loaded: true,
		ServerInfo: topology.ServerInfo{Version: "5.0.7"},
		Databases:  []topology.Database{{Name: "yorkie-meta", Primary: s.Shard(0)}},
		Unsharded: []topology.Namespace{"yorkie-meta.clusternodes", "yorkie-meta.invites", "yorkie-meta.members",
			"yorkie-meta.projects", "yorkie-meta.snapshot_bodies", "yorkie-meta.users"},
		Balancer: topology.Balancer{
			Known:        true,
			Mode:         "full",
			StatusKnown:  true,
			InRound:      true,
			Rounds:       1204,
			ChunkBytes:   64 << 20,
			ChunkDefault: true,
		},
		Routers: []topology.Router{{Host: "mongos-0:27017", Version: "5.0.7", Ping: Epoch.Add(-4 * time.Second)}},
		Health:  map[topology.Part]topology.Health{},
		Sizes:   map[topology.Namespace]topology.Sizes{},
	}
	for i := range s.Shards {
		t.Shards = append(t.Shards, topology.Shard{Name: s.Shard(i), ReplSet: s.Shard(i),
			Hosts: []string{
				fmt.Sprintf("%s-0.mongo:27018", s.Shard(i)),
				fmt.Sprintf("%s-1.mongo:27018", s.Shard(i)),
				fmt.Sprintf("%s-2.mongo:27018", s.Shard(i)),
			}})
	}
	slices.SortFunc(t.Shards, func(a, b topology.Shard) int { return natural.Compare(a.Name, b.Name) })
	for _, p := range EveryPart() {
		t.Health[p] = topology.Health{At: Epoch.Add(-2 * time.Second)}
	}
	t.Disks = map[string]topology.Disk{}
	for i := range s.Shards {
		t.Disks[s.Shard(i)] = DiskOf(int64(90+17*i), 480, Epoch.Add(-31*time.Second))
	}
	hashed := bson.D{{Key: "doc_id", Value: "hashed"}}
	byProject := bson.D{{Key: "project_id", Value: 1}}
	ids := s.ProjectIDs()
	s.Add(t, "changes", hashed, s.hashBounds("doc_id", s.Chunks), 9_400_000_000, 14_200_000)
	s.Add(t, "clients", bson.D{{Key: "project_id", Value: 1}, {Key: "_id", Value: "hashed"}}, s.clientBounds(ids), 610_000_000, 1_340_000)
	s.Add(t, "documents", byProject, s.idBounds(ids, 4), 22_000_000, 20_000)
	s.Add(t, "revisions", hashed, s.hashBounds("doc_id", 6), 180_000_000, 4_100)
	s.Add(t, "schemas", byProject, s.idBounds(ids, 20), 400_000, 310)
	s.Add(t, "snapshots", hashed, s.hashBounds("doc_id", 12), 3_100_000_000, 61_000)
	s.Add(t, "versionvectors", hashed, s.hashBounds("doc_id", 6), 41_000_000, 88_000)
	for i, ns := range t.Unsharded {
		n := int64(900 + i*77)
		t.Sizes[ns] = topology.Sizes{NS: ns, At: Epoch, Shards: map[string]topology.Size{s.Shard(0): Size(n*400, n)}}
	}
	s.events(t)
	return t
}

// Add adds a sharded collection with chunks between the bounds.
func (s *Story) Add(t *topology.Table, name string, key bson.D, bounds []bson.D, bytes, docs int64) {
	ns := topology.Namespace("yorkie-meta." + name)
	raw := Must(bson.Marshal(key))
	p := Must(shardkey.ParsePattern(raw))
	keys := []shardkey.Key{p.Min()}
	for _, b := range bounds {
		keys = append(keys, Must(p.Bound(Must(bson.Marshal(b)))))
	}
	slices.SortFunc(keys, shardkey.Key.Compare)
	keys = slices.CompactFunc(append(keys, p.Max()), func(a, b shardkey.Key) bool { return a.Compare(b) == 0 })
	rows := make([]topology.Chunk, len(keys)-1)
	counts := map[string]int64{}
	for i := range rows {
		shard := s.Shard(min(int(math.Abs(s.Rand.NormFloat64())*float64(s.Shards)*0.62), s.Shards-1))
		counts[shard]++
		rows[i] = topology.Chunk{Min: keys[i], Max: keys[i+1], Shard: shard,
			Version: topology.Version{Major: uint32(1 + s.Rand.IntN(40)), Minor: uint32(s.Rand.IntN(3))},
			Since:   bson.Timestamp{T: uint32(Epoch.Unix()) - uint32(s.Rand.IntN(900_000))}}
	}
	n := int64(len(rows))
	m := Must(topology.BuildChunks(p, rows))
	t.Collections = append(t.Collections, &topology.Collection{
		Meta: topology.Meta{NS: ns, Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{byte(len(name))}}}, Highest: m.Highest(), Chunks: m})
	sizes := topology.Sizes{NS: ns, At: Epoch.Add(-31 * time.Second), Sharded: true, Shards: map[string]topology.Size{}}
	for shard, c := range counts {
		sizes.Shards[shard] = Size(bytes*c/n, docs*c/n)
	}
	t.Sizes[ns] = sizes
}

// Size is a size that was read from a shard half a minute before Epoch.
func Size(bytes, docs int64) topology.Size {
	f := func(n int64) topology.Figure {
		return topology.Figure{Known: true, Exact: true, Value: n, Method: "collStats", At: Epoch.Add(-31 * time.Second)}
	}
	return topology.Size{
		Bytes:     f(bytes),
		Documents: f(docs),
		Storage:   f(bytes / 3),
		Indexes:   f(bytes / 9),
		Orphans:   topology.Figure{Reason: "notReported"},
	}
}

func (s *Story) hashBounds(field string, n int) []bson.D {
	var out []bson.D
	for i := 1; i < n; i++ {
		h := int64(math.MinInt64) + int64(float64(i)/float64(n)*math.MaxUint64/2)*2
		out = append(out, bson.D{{Key: field, Value: h + s.Rand.Int64N(math.MaxInt64/int64(n))}})
	}
	return out
}

func (s *Story) idBounds(ids []bson.ObjectID, every int) []bson.D {
	var out []bson.D
	for i := every; i < len(ids); i += every {
		out = append(out, bson.D{{Key: "project_id", Value: ids[i]}})
	}
	return out
}

func (s *Story) clientBounds(ids []bson.ObjectID) []bson.D {
	var out []bson.D
	for i := 2; i < len(ids); i += 5 {
		out = append(out, bson.D{{Key: "project_id", Value: ids[i]}, {Key: "_id", Value: int64(0)}},
			bson.D{{Key: "project_id", Value: ids[i]}, {Key: "_id", Value: int64(4611686018427387904)}})
	}
	return out
}

func (s *Story) events(t *topology.Table) {
	whats := []string{
		"moveChunk.from",
		"moveChunk.commit",
		"moveChunk.to",
		"moveChunk.start",
		"split",
		"moveChunk.error",
		"merge",
		"shardCollection.end",
	}
	for i := range 240 {
		c := t.Collections[i%len(t.Collections)]
		ch := c.Chunks.At(i % c.Chunks.Len())
		lo, hi := Must(c.Key.Document(ch.Min)), Must(c.Key.Document(ch.Max))
		what := whats[(i*5)%len(whats)]
		d := bson.D{
			{Key: "min", Value: lo},
			{Key: "max", Value: hi},
			{Key: "from", Value: s.Shard(i % s.Shards)},
			{Key: "to", Value: s.Shard((i + 1) % s.Shards)},
		}
		switch what {
		case "split":
			d = bson.D{{Key: "before", Value: bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}}}, {Key: "owningShard", Value: ch.Shard}}
		case "merge":
			d = bson.D{
				{Key: "merged", Value: bson.A{bson.D{{Key: "min", Value: lo}}, bson.D{{Key: "max", Value: hi}}}},
				{Key: "owningShard", Value: ch.Shard},
			}
		case "shardCollection.end":
			d = bson.D{{Key: "numChunks", Value: 1}}
		case "moveChunk.from", "moveChunk.to":
			d = append(d, bson.E{Key: "note", Value: []string{"success", "aborted"}[i%2]})
		}
		t.Events = append(t.Events, topology.Event{ID: fmt.Sprintf("cfg-%d", 240-i), Time: Epoch.Add(-time.Duration(i*i*3+7) * time.Second),
			What: what, NS: string(c.NS), Shard: s.Shard(i % s.Shards), Details: Must(bson.Marshal(d))})
	}
}

var storyNames = []string{"wiki", "whiteboard", "forms", "atlas-notes", "codepair", "drawio-live", "kanban", "minutes", "retro", "canvas"}

func (s *Story) directory() *placement.Directory {
	var out []placement.Project
	for i, id := range s.ProjectIDs() {
		known := func(n int64) topology.Figure {
			return topology.Figure{Known: true, Value: n, Method: "projectStats", At: Epoch.Add(-3 * time.Minute)}
		}
		p := placement.Project{
			DB:        "yorkie-meta",
			ID:        id,
			Name:      storyNames[i%len(storyNames)],
			PublicKey: fmt.Sprintf("cv2k%04dq9s8lr1p7ggm%02d", i*37, i),
			CreatedAt: id.Timestamp(),
			Documents: known(int64(4200 / (i + 1))),
			Clients:   known(int64(91000 / (i + 2))),
		}
		if i >= len(storyNames) {
			p.Name = fmt.Sprintf("%s-%d", p.Name, i/len(storyNames)+1)
		}
		if i%17 == 5 {
			p.Documents, p.Clients = topology.Figure{Reason: "notCounted"}, topology.Figure{Reason: "notCounted"}
		}
		out = append(out, p)
	}
	return placement.NewDirectory(9, []string{"yorkie-meta"}, out, topology.Health{At: Epoch.Add(-8 * time.Second)})
}

// Must is v, or a panic.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// CompareText orders strings by their bytes.
func CompareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// EveryPart is every part of a table that can be read or fail.
func EveryPart() []topology.Part {
	out := slices.Clone(problems.AllParts[:])
	if !slices.Contains(out, topology.PartCollections) {
		out = append(out, topology.PartCollections)
	}
	return out
}

// Troubled breaks all that can be broken at once.
func Troubled(t *topology.Table) {
	t.Shards[1].Draining = true
	t.Shards[0].Zones = []string{"eu"}
	t.Balancer.Stopped, t.Balancer.InRound = true, false
	docs := *t.Collection("yorkie-meta.documents")
	docs.NoBalance, docs.MigrationsBlocked = true, true
	var rows []topology.Chunk
	for i, ch := range docs.Chunks.All() {
		ch.Jumbo = i == 3 || i == 4
		rows = append(rows, ch)
	}
	docs.Chunks = Must(topology.BuildChunks(docs.Key, rows))
	for i, c := range t.Collections {
		if c.NS == docs.NS {
			t.Collections[i] = &docs
		}
	}
	zone := func(c *topology.Collection, name string, from, to int) topology.ZoneRange {
		lo, hi := c.Chunks.At(from).Min, c.Chunks.At(to).Min
		return topology.ZoneRange{NS: c.NS, Zone: name, Min: lo, Max: hi, RawMin: Must(c.Key.Document(lo)), RawMax: Must(c.Key.Document(hi))}
	}
	t.Zones = []topology.ZoneRange{zone(&docs, "eu", 2, 6), zone(&docs, "mars", 8, 9)}
	t.Health[topology.PartBalancer] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "clusterMonitor (balancerStatus)"}
	t.Health[topology.PartEvents] = topology.Health{
		At:  Epoch.Add(-90 * time.Second),
		Err: fault.New(fault.Unavailable, "The config servers did not answer within 10 s."),
	}
	t.Balancer.StatusKnown = false
	t.Routers = append(t.Routers, topology.Router{Host: "mongos-1:27017", Version: "5.0.6", Ping: Epoch.Add(-20 * time.Minute)})
	big := t.Sizes["yorkie-meta.snapshot_bodies"]
	big.Shards = map[string]topology.Size{t.Primary("yorkie-meta"): Size(8_000_000_000, 310)}
	t.Sizes["yorkie-meta.snapshot_bodies"] = big
}
