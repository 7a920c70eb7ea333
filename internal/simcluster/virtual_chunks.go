package simcluster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// ManyNS is the collection of Options.ManyChunks.
const ManyNS = "many.chunks"

// MostManyChunks is the greatest Options.ManyChunks: it leaves room between the bounds of chunks,
// and fits a minor version.
const MostManyChunks = 100_000_000

// virtualChunks is a collection of {k: "hashed"} with so many chunks that their documents
// are made when they are read instead of being kept. Nothing changes it. Chunk i has
// version (1, i+1), so that the order by version is that by key.
type virtualChunks struct {
	n        int
	step     uint64 // between the bounds of neighbours
	uuid     bson.RawValue
	shards   []virtualOwner
	at       bson.RawValue // since when shards own them
	since    bson.RawValue // onCurrentShardSince: the same, missing before 6.0
	examined *engine.Examined
}

// virtualOwner is a shard and the history of a chunk that it always owned.
type virtualOwner struct{ name, history bson.RawValue }

func (c *Cluster) addManyChunks(n int) error {
	node := c.catalog.Config
	m := &virtualChunks{n: n, step: math.MaxUint64/uint64(n) + 1, at: value.Timestamp(uint32(c.opts.Epoch.Unix()), 1),
		examined: node.Examined()}
	if c.version.atLeast(6, 0, 0) {
		m.since = m.at
	}
	m.uuid, _ = value.Of(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("virtual-chunks-0")})
	for _, name := range c.opts.shardNames() {
		h := value.NewBuilder(64).Append("validAfter", m.at).Append("shard", value.String(name))
		m.shards = append(m.shards, virtualOwner{value.String(name), value.Array(value.Doc(h.Raw()))})
	}
	insert := func(coll string, doc bson.D) error {
		_, err := node.Coll("config", coll).Insert(encode(doc))
		return err
	}
	err := insert("databases",
		value.D("_id", "many", "primary", c.opts.shardNames()[0], "partitioned", true,
			"version", value.D("uuid", m.uuid, "timestamp", m.at, "lastMod", int32(1))))
	if err == nil {
		err = insert("collections", value.D("_id", ManyNS,
			"lastmodEpoch", bson.NewObjectIDFromTimestamp(c.opts.Epoch),
			"lastmod", bson.NewDateTimeFromTime(c.opts.Epoch), "timestamp", m.at, "uuid", m.uuid,
			"key", value.D("k", "hashed"), "unique", false, "noBalance", false))
	}
	if err != nil {
		return fmt.Errorf("add %s: %w", ManyNS, err)
	}
	c.many = m
	return nil
}

// bound is the lower bound of chunk i, or the end of the key space.
func (m *virtualChunks) bound(i int) bson.RawValue {
	k := value.Int64(int64(uint64(i)*m.step) + math.MinInt64)
	switch {
	case i <= 0:
		k = value.MinKey()
	case i >= m.n:
		k = value.MaxKey()
	}
	return value.Doc(value.NewBuilder(24).Append("k", k).Raw())
}

func (m *virtualChunks) document(i int) bson.Raw {
	var id bson.ObjectID
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	shard := m.shards[i*7%len(m.shards)]
	return value.NewBuilder(320).Append("_id", value.ObjectID(id)).Append("uuid", m.uuid).
		Append("min", m.bound(i)).Append("max", m.bound(i+1)).Append("shard", shard.name).
		Append("lastmod", value.Timestamp(1, uint32(i+1))).Append("onCurrentShardSince", m.since).
		Append("history", shard.history).Raw()
}

// reads tells whether a query is about these chunks.
func (m *virtualChunks) reads(db, coll string, f *query.Filter) bool {
	if m == nil || db != "config" || coll != "chunks" || f.Empty() {
		return false
	}
	return m.is(f.Raw().Lookup("uuid"))
}

func (m *virtualChunks) is(uuid bson.RawValue) bool {
	return uuid.Type == m.uuid.Type && bytes.Equal(uuid.Value, m.uuid.Value)
}

// cursor is a cursor over the chunks that a find selects: by min from a bound on or at
// some bounds, or by lastmod from a version on; in ascending order, which is the same by
// either.
func (m *virtualChunks) cursor(a findArgs) *cursor {
	k := &cursor{ns: "config.chunks", keep: a.keep, project: a.projection.Apply}
	from, to := 0, m.n
	if at, ok := a.filter.Raw().Lookup("min", "$in").ArrayOK(); ok {
		values, _ := at.Values()
		for _, v := range values {
			if i, exact := m.find(v); exact {
				k.docs = append(k.docs, m.document(i))
			}
		}
		m.looked(len(values))
		return k
	}
	if lower := a.filter.Raw().Lookup("min", "$gte"); lower.Type != 0 {
		from, _ = m.find(lower)
	}
	if major, minor, ok := a.filter.Raw().Lookup("lastmod", "$gte").TimestampOK(); ok {
		switch {
		case major > 1:
			from = m.n
		case major == 1:
			from = max(int(minor)-1, 0)
		}
	}
	from += int(a.skip)
	if a.limit > 0 {
		to = min(to, from+int(a.limit))
	}
	k.made = func() (bson.Raw, bool) {
		if from >= to {
			return nil, false
		}
		from++
		m.looked(1)
		return m.document(from - 1), true
	}
	return k
}

func (m *virtualChunks) looked(n int) {
	m.examined.Keys.Add(int64(n))
	m.examined.Docs.Add(int64(n))
}

// find is the first chunk that begins at or after {k: bound}.
func (m *virtualChunks) find(bound bson.RawValue) (i int, exact bool) {
	doc, _ := bound.DocumentOK()
	switch v := doc.Lookup("k"); v.Type {
	case bson.TypeMinKey:
		return 0, true
	case bson.TypeInt64:
		at := uint64(v.Int64() - math.MinInt64)
		i = int(at / m.step)
		if at%m.step == 0 && i > 0 {
			return i, true
		}
		return i + 1, false
	}
	return m.n, false
}

// counted is what a pipeline that only counts these chunks gives, by the keys of an index; nil for another one.
func (m *virtualChunks) counted(a aggregateArgs) bson.Raw {
	if m == nil || a.db != "config" || a.coll != "chunks" || len(a.stages) != 2 || !m.is(a.stages[0].Lookup("$match", "uuid")) {
		return nil
	}
	if by := a.stages[1].Lookup("$group", "_id"); by.Type != bson.TypeNull {
		return nil
	}
	m.examined.Keys.Add(int64(m.n))
	return encode(value.D("_id", nil, "n", int64(m.n)))
}

// joined is the row that a $lookup of a collection's highest version finds.
func (m *virtualChunks) joined(db, coll string, vars map[string]bson.RawValue) (pipeline.Docs, bool) {
	if m == nil || db != "config" || coll != "chunks" {
		return nil, false
	}
	if !m.is(vars["c"]) {
		return nil, false
	}
	m.looked(1)
	return pipeline.Of(encode(value.D("lastmod", bson.Timestamp{T: 1, I: uint32(m.n)}))), true
}
