package webtest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/problems"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// HostileName is a formula for a spreadsheet and markup at once.
const HostileName = `=cmd|'/c calc'!A1<script>alert(1)</script>`

// CannedTable has three shards (one is named HostileName), three collections (documents with n chunks,
// the hashed changes, one whose name needs escaping), a zone over three chunks, sizes of documents, and 300 events.
func CannedTable(seq uint64, n int) *topology.Table {
	t := &topology.Table{
		ClusterID: "65e1c0ffee00000000000001", Seq: seq, Built: Epoch, Loaded: true,
		ServerInfo: topology.ServerInfo{Version: "5.0.7"},
		Shards: []topology.Shard{
			{Name: HostileName, ReplSet: "rs-x", Hosts: []string{"x:27018"}},
			{Name: "shard-rs-1", ReplSet: "shard-rs-1", Hosts: []string{"a:27018"}, Zones: []string{"eu"}},
			{Name: "shard-rs-2", ReplSet: "shard-rs-2", Hosts: []string{"b:27018"}},
		},
		Databases: []topology.Database{{Name: "yorkie-meta", Primary: "shard-rs-1"}},
		Unsharded: []topology.Namespace{"yorkie-meta.projects", "yorkie-meta.users"},
		Balancer:  topology.Balancer{Known: true, Mode: "full", ChunkBytes: 64 << 20, ChunkDefault: true},
		Health:    map[topology.Part]topology.Health{},
		Sizes:     map[topology.Namespace]topology.Sizes{},
	}
	for _, p := range problems.AllParts {
		t.Health[p] = topology.Health{At: Epoch}
	}
	docs := CannedCollection("yorkie-meta.documents", bson.D{{Key: "project_id", Value: 1}}, n, 1)
	changes := CannedCollection("yorkie-meta.changes", bson.D{{Key: "doc_id", Value: "hashed"}}, 1200, 2)
	weird := CannedCollection("weird.a/b,c@1%2F ü", bson.D{{Key: "name", Value: 1}}, 3, 3)
	t.Collections = []*topology.Collection{weird, changes, docs}
	lo, hi := docs.Chunks.At(2).Min, docs.Chunks.At(5).Min // n is at least 6
	rawLo, _ := docs.Key.Document(lo)
	rawHi, _ := docs.Key.Document(hi)
	t.Zones = []topology.ZoneRange{{NS: docs.NS, Zone: "eu", Min: lo, Max: hi, RawMin: rawLo, RawMax: rawHi}}
	known := func(v int64) topology.Figure {
		return topology.Figure{Known: true, Value: v, Method: "collStats", At: Epoch}
	}
	t.Sizes[docs.NS] = topology.Sizes{NS: docs.NS, At: Epoch, Sharded: true, Shards: map[string]topology.Size{
		"shard-rs-1": {Bytes: known(1000), Documents: known(10)}, "shard-rs-2": {Bytes: known(500), Documents: known(5)},
	}}
	details, _ := bson.Marshal(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "note", Value: "<script>=1+1"}})
	for i := range 300 {
		t.Events = append(t.Events, topology.Event{
			ID: fmt.Sprintf("host-%d", 300-i), Time: Epoch.Add(-time.Duration(i) * time.Second),
			What: []string{"moveChunk.commit", "split"}[i%2], NS: string(docs.NS), Shard: "shard-rs-1", Details: details,
		})
	}
	return t
}

// cannedCollections keeps what was built, which takes long with a thousand chunks.
var cannedCollections sync.Map

// CannedCollection has n chunks that change shards every third chunk. The collection is the
// caller's own; its chunks and key are shared, and nobody can change those.
func CannedCollection(ns topology.Namespace, key bson.D, n int, salt byte) *topology.Collection {
	raw := MustBSON(key)
	type asked struct {
		ns   topology.Namespace
		key  string
		n    int
		salt byte
	}
	as := asked{ns, string(raw), n, salt}
	built, ok := cannedCollections.Load(as)
	if !ok {
		built, _ = cannedCollections.LoadOrStore(as, buildCollection(ns, key, raw, n, salt))
	}
	own := *built.(*topology.Collection)
	return &own
}

func buildCollection(ns topology.Namespace, key bson.D, raw bson.Raw, n int, salt byte) *topology.Collection {
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		panic(err)
	}
	shards := []string{"shard-rs-1", "shard-rs-2", HostileName}
	bounds := []shardkey.Key{p.Min()}
	for i := 1; i < n; i++ {
		doc, err := bson.Marshal(bson.D{{Key: key[0].Key, Value: boundValue(p, i)}})
		if err != nil {
			panic(err)
		}
		k, err := p.Bound(doc)
		if err != nil {
			panic(err)
		}
		bounds = append(bounds, k)
	}
	slices.SortFunc(bounds, shardkey.Key.Compare)
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i := range n {
		rows = append(rows, topology.Chunk{
			Min: bounds[i], Max: bounds[i+1], Shard: shards[i/3%3], Version: topology.Version{Major: uint32(i + 1)},
			Since: bson.Timestamp{T: uint32(Epoch.Unix())}, Jumbo: i == 7,
		})
	}
	m, err := topology.BuildChunks(p, rows)
	if err != nil {
		panic(err)
	}
	return &topology.Collection{
		Meta:    topology.Meta{NS: ns, Key: p, Incarnation: topology.Incarnation{UUID: [16]byte{salt}}},
		Highest: m.Highest(), Chunks: m,
	}
}

func boundValue(p shardkey.Pattern, i int) any {
	if p.Fields()[0].Hashed {
		return int64(i) << 40
	}
	return ProjectID(i)
}

// ProjectID is the id of the i-th project of CannedDirectory.
func ProjectID(i int) bson.ObjectID {
	return bson.ObjectID{0x65, 0xe0, 0, 0, 0, 0, 0, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}
}

func cannedDirectory(seq uint64, n int) *placement.Directory {
	var ps []placement.Project
	for i := range n {
		name := fmt.Sprintf("project-%03d", i)
		if i == 0 {
			name = HostileName
		}
		ps = append(ps, placement.Project{DB: "yorkie-meta", ID: ProjectID(i), Name: name, PublicKey: fmt.Sprintf("pk%d", i), CreatedAt: Epoch})
	}
	return placement.NewDirectory(seq, []string{"yorkie-meta"}, ps, topology.Health{At: Epoch})
}

// WithMoved is the next table, in which the i-th chunk of a collection has moved.
func WithMoved(t *topology.Table, ns topology.Namespace, i int, to string) *topology.Table {
	next := *t
	next.Seq++
	next.Collections = slices.Clone(t.Collections)
	for ci, c := range next.Collections {
		if c.NS != ns {
			continue
		}
		var rows []topology.Chunk
		for j, ch := range c.Chunks.All() {
			if j == i {
				ch.Shard = to
				ch.Version = topology.Version{Major: c.Highest.Major + 1}
			}
			rows = append(rows, ch)
		}
		m, err := topology.BuildChunks(c.Key, rows)
		if err != nil {
			panic(err)
		}
		moved := *c
		moved.Chunks, moved.Highest = m, m.Highest()
		next.Collections[ci] = &moved
	}
	return &next
}

// Collections of the table that tests begin with; SessionsNS is one of the server's own.
const (
	ChangesNS   = topology.Namespace("yorkie-meta.changes")
	DocumentsNS = topology.Namespace("yorkie-meta.documents")
	SessionsNS  = topology.Namespace("config.system.sessions")
)
