package catalog

import (
	"fmt"
	"iter"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// configStore writes the documents of the config database. It panics when an index
// rejects a write, because that means that the tables in memory are wrong.
type configStore struct {
	node *engine.Node
	uuid func() [16]byte
}

// indexesOf lists the indexes that a config server creates besides _id_.
func indexesOf(f release) map[string][]bson.D {
	unique := func(key bson.D) bson.D { return value.D("key", key, "unique", true) }
	plain := func(key bson.D) bson.D { return value.D("key", key) }
	by := func(fields ...string) bson.D {
		var d bson.D
		for _, f := range fields {
			d = append(d, bson.E{Key: f, Value: int32(1)})
		}
		return d
	}
	of := "uuid"
	if !f.since(5) {
		of = "ns"
	}
	m := map[string][]bson.D{
		"shards":     {unique(by("host"))},
		"chunks":     {unique(by(of, "min")), unique(by(of, "shard", "min")), unique(by(of, "lastmod"))},
		"tags":       {unique(by("ns", "min")), plain(by("ns", "tag"))},
		"migrations": {unique(by("ns", "min"))},
		"locks":      {plain(by("ts")), plain(by("state", "process"))},
		"lockpings":  {plain(by("ping"))},
	}
	without := []string{"reshardingOperations", "databases", "collections", "settings", "changelog", "actionlog", "version",
		"mongos", "transactions", "image_collection", "system.indexBuilds"} // the last three are internal to the server
	if f.since(7) {
		delete(m, "locks")
		delete(m, "lockpings")
		m["placementHistory"] = []bson.D{unique(value.D("nss", int32(1), "timestamp", int32(-1)))}
		m["chunks"] = append(m["chunks"], plain(by("uuid", "shard", "onCurrentShardSince")))
	}
	if f.since(8) {
		delete(m, "migrations") // what follows is internal to the server as well
		without = append(without, "system.preimages", "rangeDeletions", "sampledQueries", "sampledQueriesDiff", "clusterParameters",
			"sharding_configsvr_coordinators", "analyzeShardKeySplitPoints")
	}
	for _, name := range without {
		m[name] = nil
	}
	return m
}

// optionsOf are the options of a collection of config that has some in 8.0.
func optionsOf(name string, f release) bson.Raw {
	capped := func(size int32) bson.Raw {
		return encode(value.D("capped", true, "size", size))
	}
	switch {
	case !f.since(8):
	case name == "changelog":
		return capped(200 << 20)
	case name == "actionlog":
		return capped(20 << 20)
	case name == "system.preimages":
		return encode(value.D("clusteredIndex", true))
	case name == "settings" && !f.AtLeast(8, 3, 0):
		return encode(value.D("validator", value.D("$jsonSchema", settingsSchema), "validationLevel", "strict",
			"validationAction", "error"))
	}
	return nil
}

func newConfigStore(n *engine.Node, uuid func() [16]byte, f release) configStore {
	s := configStore{node: n, uuid: uuid}
	specs := indexesOf(f)
	for _, name := range sortedKeys(specs) {
		if (name == "settings" || name == "actionlog") && !f.since(8) {
			continue // it exists from the first write on
		}
		coll := n.Create("config", name, uuid(), optionsOf(name, f))
		for _, spec := range specs[name] {
			if _, err := coll.EnsureIndex(encode(spec)); err != nil {
				panic(fmt.Sprintf("index %v of config.%s: %v", spec, name, err))
			}
		}
	}
	if f.since(8) {
		for _, name := range []string{"system.keys", "system.version"} {
			n.Create("admin", name, uuid(), nil)
		}
	}
	return s
}

// coll is a collection of config, created on first use.
func (s configStore) coll(name string) *engine.Coll {
	if c := s.node.Coll("config", name); c != nil {
		return c
	}
	return s.node.Create("config", name, s.uuid(), nil)
}

func (s configStore) insert(name string, doc bson.D) engine.RecordID {
	id, err := s.coll(name).Insert(encode(doc))
	if err != nil {
		panic(fmt.Sprintf("insert into config.%s: %v", name, err))
	}
	return id
}

func (s configStore) update(name string, id engine.RecordID, doc bson.D) {
	if err := s.coll(name).Update(id, encode(doc)); err != nil {
		panic(fmt.Sprintf("update in config.%s: %v", name, err))
	}
}

// find is the document with a text as _id, nil for none.
func (s configStore) find(name, id string) (engine.RecordID, bson.Raw) {
	for record, doc := range s.all(name) {
		if text, _ := doc.Lookup("_id").StringValueOK(); text == id {
			return record, doc
		}
	}
	return 0, nil
}

// put replaces the document with the same _id, a text, or inserts it.
func (s configStore) put(name string, doc bson.D) {
	if record, old := s.find(name, doc[0].Value.(string)); old != nil {
		s.update(name, record, doc)
	} else {
		s.insert(name, doc)
	}
}

func (s configStore) delete(name string, id engine.RecordID) { s.coll(name).Delete(id) }

// all iterates over the documents of a collection, if it is there.
func (s configStore) all(name string) iter.Seq2[engine.RecordID, bson.Raw] {
	if c := s.node.Coll("config", name); c != nil {
		return c.All()
	}
	return func(func(engine.RecordID, bson.Raw) bool) {}
}

func encode(doc any) bson.Raw { return value.Encode(doc) }

// asInt64 reads any BSON number as an integer.
func asInt64(v bson.RawValue) (int64, bool) {
	switch v.Type {
	case bson.TypeInt32:
		return int64(v.Int32()), true
	case bson.TypeInt64:
		return v.Int64(), true
	case bson.TypeDouble:
		return int64(math.Trunc(v.Double())), true
	}
	return 0, false
}

// truthy reads a boolean option.
func truthy(v bson.RawValue) bool { return value.True(v) }
