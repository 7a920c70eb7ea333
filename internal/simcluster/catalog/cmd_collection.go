package catalog

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) runEnableSharding(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	db, ok := req.Lookup(req.Name).StringValueOK()
	if !ok || db == "" {
		return nil, status.Errorf(status.InvalidNamespace, "invalid db name specified: %s", db)
	}
	primary, _ := req.Lookup("primaryShard").StringValueOK()
	return bson.D{}, c.enableSharding(db, primary)
}

// shardSpec has the arguments of shardCollection.
type shardSpec struct {
	ns      string
	key     pattern
	unique  bool
	initial int64 // numInitialChunks, 0 when not given
}

func (s shardSpec) coll() string {
	_, coll, _ := splitNS(s.ns)
	return coll
}

// runShardCollection shards a collection and makes its first chunks
// (db/s/create_collection_coordinator.cpp).
func (c *Cluster) runShardCollection(_ context.Context, req *engine.Request, ns string) (bson.D, error) {
	s, err := readShardSpec(req, ns)
	if err != nil {
		return nil, err
	}
	if err := c.shardCollection(s); err != nil {
		return nil, err
	}
	return value.D("collectionsharded", s.ns), nil
}

func readShardSpec(req *engine.Request, ns string) (shardSpec, error) {
	s := shardSpec{ns: ns}
	var err error
	if s.key, err = keyArgument(req); err != nil {
		return s, err
	}
	s.unique = truthy(req.Lookup("unique"))
	if truthy(req.Lookup("presplitHashedZones")) {
		return s, status.Errorf(status.CommandNotSupported, "this simulated cluster knows no presplitHashedZones")
	}
	if s.unique && !s.key.ordered() {
		return s, status.Errorf(status.InvalidOptions, "Hashed shard keys cannot be declared unique. It's possible to "+
			"ensure uniqueness on the hashed field by declaring an additional (non-hashed) unique index on the field.")
	}
	if n := req.Lookup("numInitialChunks"); n.Type != 0 && n.Type != bson.TypeNull {
		var ok bool
		if s.initial, ok = asInt64(n); !ok || s.initial < 0 {
			return s, status.Errorf(status.InvalidOptions, "numInitialChunks must be a number that is not negative")
		}
	}
	return s, nil
}

// shardCollection checks the request, creates the collection and its index, and writes
// the metadata. Repeating it with the same key does nothing, with another key it fails;
// both leave a start entry without an end entry in the changelog.
func (c *Cluster) shardCollection(s shardSpec) error {
	db, _, _ := splitNS(s.ns)
	d := c.dbs[db]
	if d == nil && c.since(6) {
		// Since 6.0 enableSharding is not needed first.
		d = c.createDatabase(db, c.emptiestShard(), true)
	}
	if d == nil {
		return status.Errorf(status.NamespaceNotFound, "database %s not found", db)
	}
	if !d.partitioned && !c.since(6) {
		return status.Errorf(status.IllegalOperation, "sharding not enabled for db %s", db)
	}
	logStart := func() {
		c.logChange(d.primary, "shardCollection.start", s.ns, value.D("shardKey", s.key.raw, "collection", s.ns,
			"primary", d.primary))
	}
	if !c.since(8) {
		logStart()
	}
	if r := c.Routing(s.ns); r != nil {
		if value.CompareDocs(r.Key, s.key.raw) == 0 && r.Unique == s.unique {
			return nil
		}
		if c.since(8) {
			// The misspelling is the server's.
			return status.Errorf(23, "Collection '%s' already exists with a differnt shard key. Requested %s but found %s",
				s.ns, text(s.key.raw), text(r.Key))
		}
		return status.Errorf(23, "sharding already enabled for collection %s", s.ns)
	}
	if c.since(8) {
		logStart()
	}
	named := s.ns
	home, _ := c.Home(d.name, s.coll())
	coll := c.data(home, s.ns)
	var series bson.Raw
	if buckets := bucketsOf(s.ns); coll == nil && c.data(home, buckets) != nil {
		s.ns, coll = buckets, c.data(home, buckets)
		series, _ = coll.Options.Lookup("timeseries").DocumentOK()
		if r := c.Routing(s.ns); r != nil {
			return nil
		}
		var err error
		if s.key, err = keyOfBuckets(s.key, series); err != nil {
			return err
		}
	}
	empty := coll == nil || coll.Len() == 0
	if err := c.checkZones(s); err != nil {
		return err
	}
	if !empty && s.initial > 0 {
		return status.Errorf(status.InvalidOptions, "numInitialChunks is not supported when the collection is not empty.")
	}
	if s.initial > 0 && !s.key.hashedPrefix() {
		return status.Errorf(status.InvalidOptions, "numInitialChunks is not supported when the shard key is not hashed.")
	}
	coll, err := c.shardKeyIndex(s, home, coll, empty)
	if err != nil {
		return err
	}
	epoch, at := c.objectID(d.primary), c.Timestamp()
	cuts, err := c.initialChunks(s, home, empty)
	if err != nil {
		return err
	}
	c.untrack(s.ns)
	r := c.newRouting(s.ns, s.key, coll.UUID, s.unique, epoch, at)
	if series != nil {
		r.newer.series = series
		c.saveCollection(r)
	}
	chunks := make([]*Chunk, len(cuts))
	for i, cut := range cuts {
		chunks[i] = c.placeChunk(r, cut.min, cut.max, cut.shard, bson.Timestamp{T: 1, I: uint32(i)}, at)
	}
	r.setChunks(chunks)
	for shard := range r.counts {
		if _, err := c.EnsureCollection(shard, s.ns, coll.UUID, coll); err != nil {
			return err
		}
	}
	c.notePlacement(r)
	c.logChange(d.primary, "shardCollection.end", named, value.D("uuid", uuidValue(r.UUID), c.release.createdVersion(r),
		"empty", empty, "numChunks", int32(len(chunks))))
	return nil
}

// bucketsOf is the collection of the buckets of a time series.
func bucketsOf(ns string) string {
	db, coll, _ := splitNS(ns)
	return db + ".system.buckets." + coll
}

// keyOfBuckets is a shard key of a time series as its buckets have it: the meta field, or a part of it, is meta there,
// and the time that of the first measurement (db/timeseries/timeseries_index_schema_conversion_functions.cpp).
func keyOfBuckets(p pattern, series bson.Raw) (pattern, error) {
	time, _ := series.Lookup("timeField").StringValueOK()
	meta, _ := series.Lookup("metaField").StringValueOK()
	var key bson.D
	for name, kind := range value.Elements(p.raw) {
		switch rest, part := strings.CutPrefix(name, meta+"."); {
		case name == time:
			name = "control.min." + time
		case name == meta:
			name = "meta"
		case part && meta != "":
			name = "meta." + rest
		default:
			return p, status.Errorf(status.BadValue, "only the time field or meta field can be part of shard key")
		}
		key = append(key, bson.E{Key: name, Value: kind})
	}
	return parsePattern(encode(key))
}

// createdVersion is the version in the log entry of a new collection.
func (f release) createdVersion(r *Routing) bson.D {
	text := fmt.Sprintf("%d|%d||%s||Timestamp(%d, %d)", r.version.T, r.version.I, r.Epoch.Hex(), r.Timestamp.T, r.Timestamp.I)
	return value.D(value.When(f.since(8), "placementVersion", "||"+text), value.When(!f.since(8), "version", text))
}

// checkZones checks that ranges assigned before sharding have exactly the fields of the
// new key.
func (c *Cluster) checkZones(s shardSpec) error {
	for _, z := range c.zones[s.ns] {
		if lo, ok := s.key.normalize(z.Min); !ok || sameNames(lo, z.Min) != value.Len(lo) { // the same number, in the key's order
			return status.Errorf(status.InvalidOptions, "the proposed shard key %s does not match with the shard key of the "+
				"existing zone %s -->> %s", text(s.key.raw), text(z.Min), text(z.Max))
		}
	}
	return nil
}

// shardKeyIndex creates the collection on the primary and the index for the shard key;
// a collection with documents must already have the index.
func (c *Cluster) shardKeyIndex(s shardSpec, primary string, coll *engine.Coll, empty bool) (*engine.Coll, error) {
	if coll == nil {
		var err error
		if coll, err = c.EnsureCollection(primary, s.ns, c.UUID(), nil); err != nil {
			return nil, err
		}
	}
	if supports(coll, s.key.raw) {
		return coll, nil
	}
	if !empty {
		return nil, status.Errorf(status.InvalidOptions,
			"Please create an index that starts with the proposed shard key before sharding the collection")
	}
	_, err := coll.EnsureIndex(encode(value.D("key", s.key.raw, value.When(s.unique, "unique", true))))
	return coll, err
}
