package catalog

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// shard is one document of config.shards.
type shard struct {
	name, host string
	tags       []string
	hasTags    bool // a tags field exists, even if empty
	draining   bool
	topology   bson.Timestamp
	record     engine.RecordID
}

func (s *shard) document(f release) bson.D {
	version := int64(1) // of the replica set as the config server knows it; assumed
	if f.since(8) {
		version = -1 // none yet on the recorded 8.0
	}
	return value.D("_id", s.name, "host", s.host, "state", int32(1), value.When(f.since(5), "topologyTime", s.topology),
		value.When(f.since(7), "replSetConfigVersion", version), value.When(f.refs != nil, "uuid", f.shardRef(s.name)),
		value.When(s.hasTags, "tags", append([]string{}, s.tags...)), value.When(s.draining, "draining", true))
}

func (c *Cluster) registerShard(name, address string) {
	set := name
	if name == configServer {
		set = "cfg"
	}
	s := &shard{name: name, host: set + "/" + address, topology: c.Timestamp()}
	c.nameShard(s.name)
	s.record = c.config.insert("shards", s.document(c.release))
	c.shards = append(c.shards, s)
	c.logInProgress(true)
	c.logChange(configServer, "addShard", "", value.D("name", s.name, "host", s.host))
	c.logInProgress(false)
}

// logInProgress logs the cluster parameter that 8.0 sets while shards come and go.
func (c *Cluster) logInProgress(on bool) {
	if !c.since(8) {
		return
	}
	parameter := value.D("addOrRemoveShardInProgress", value.D("inProgress", on))
	c.logChange(configServer, "setClusterParameter.start", "config.clusterParameters", parameter)
	c.logChange(configServer, "setClusterParameter.end", "config.clusterParameters", parameter)
}

func (c *Cluster) saveShard(s *shard) { c.config.update("shards", s.record, s.document(c.release)) }

// shard returns a shard by name, or nil.
func (c *Cluster) shard(name string) *shard {
	for _, s := range c.shards {
		if s.name == name {
			return s
		}
	}
	return nil
}

// ShardNames lists the shards in the order in which they were added. The caller holds
// Mu.
func (c *Cluster) ShardNames() []string {
	names := make([]string, len(c.shards))
	for i, s := range c.shards {
		names[i] = s.name
	}
	return names
}

// Host is a shard's connection string, "name/address", or "". The caller holds Mu.
func (c *Cluster) Host(name string) string {
	if name == configServer {
		return "cfg/" + configHost
	}
	if s := c.shard(name); s != nil {
		return s.host
	}
	return ""
}

// reloadShards reads config.shards again after a client wrote into it.
func (c *Cluster) reloadShards() {
	var list []*shard
	for id, doc := range c.config.all("shards") {
		s := &shard{record: id}
		s.name, _ = doc.Lookup("_id").StringValueOK()
		if c.Shards[s.name] == nil {
			continue
		}
		s.host, _ = doc.Lookup("host").StringValueOK()
		s.draining = truthy(doc.Lookup("draining"))
		s.topology.T, s.topology.I, _ = doc.Lookup("topologyTime").TimestampOK()
		tags := doc.Lookup("tags")
		s.hasTags = tags.Type == bson.TypeArray
		for v := range value.Items(tags) {
			if t, ok := v.StringValueOK(); ok && s.hasTags {
				s.tags = append(s.tags, t)
			}
		}
		list = append(list, s)
	}
	c.shards = list
}

// inZone lists the shards of a zone in order.
func (c *Cluster) inZone(zone string) []string {
	var names []string
	for _, s := range c.shards {
		if slices.Contains(s.tags, zone) {
			names = append(names, s.name)
		}
	}
	return names
}

func noShard(name string) error {
	return status.Errorf(status.ShardNotFound, "Shard %s not found", name)
}

// data is a shard's part of a collection, or nil.
func (c *Cluster) data(shard, ns string) *engine.Coll {
	db, coll, ok := splitNS(ns)
	if !ok || c.Shards[shard] == nil {
		return nil
	}
	return c.Shards[shard].Coll(db, coll)
}

func nodeBytes(n *engine.Node) int64 {
	var sum int64
	for _, db := range n.Databases() {
		for _, coll := range n.Colls(db) {
			sum += coll.Bytes()
		}
	}
	return sum
}

// EnsureCollection creates a collection on a shard if needed, with the uuid, options
// and indexes of from, as a recipient does before it clones. from is nil for a new
// collection. The caller holds Mu for writing.
func (c *Cluster) EnsureCollection(shard, ns string, uuid [16]byte, from *engine.Coll) (*engine.Coll, error) {
	db, name, _ := splitNS(ns)
	node := c.Shards[shard]
	coll := node.Coll(db, name)
	if coll == nil {
		var options bson.Raw
		if from != nil {
			options = from.Options
		}
		coll = node.Create(db, name, uuid, options)
	}
	if from == nil || from == coll {
		return coll, nil
	}
	for _, spec := range from.Indexes() {
		if _, err := coll.EnsureIndex(spec); err != nil {
			return nil, err
		}
	}
	return coll, nil
}

// supports reports whether a collection has an index that begins with the key and
// contains every document (not sparse, not partial).
func supports(coll *engine.Coll, key bson.Raw) bool {
	for _, spec := range coll.Indexes() {
		if truthy(spec.Lookup("sparse")) || spec.Lookup("partialFilterExpression").Type != 0 {
			continue
		}
		if index, ok := spec.Lookup("key").DocumentOK(); ok && isPrefix(key, index) {
			return true
		}
	}
	return false
}

// isPrefix reports whether the fields of a are the first fields of b, with the same
// directions.
func isPrefix(a, b bson.Raw) bool {
	n := value.Len(a)
	if sameNames(a, b) < n {
		return false
	}
	next := value.Read(b)
	for _, v := range value.Elements(a) {
		if next.Next(); value.Compare(v, next.Value) != 0 {
			return false
		}
	}
	return true
}

// sameNames counts the first fields that two documents both have.
func sameNames(a, b bson.Raw) (n int) {
	for x, y := value.Read(a), value.Read(b); x.Next() && y.Next() && bytes.Equal(x.Key, y.Key); n++ {
	}
	return n
}

// configShardUUID is the fixed uuid of the config server as a shard.
var configShardUUID = [16]byte{0x63, 0x6f, 0x6e, 0x66, 0x69, 0x67, 0x40, 0, 0x80}

// nameShard assigns a uuid to a new shard on versions that have shard uuids.
func (c *Cluster) nameShard(name string) {
	if c.release.refs == nil {
		return
	}
	uuid := configShardUUID
	if name != configServer {
		uuid = c.UUID()
	}
	c.release.refs[name] = uuid
}

// shardRef is a document's reference to a shard: its uuid or its name.
func (f release) shardRef(name string) any {
	if uuid, ok := f.refs[name]; ok {
		return uuidValue(uuid)
	}
	return name
}

// shardName resolves a reference, "" if it is unknown.
func (f release) shardName(v bson.RawValue) string {
	if name, ok := v.StringValueOK(); ok {
		return name
	}
	_, data, ok := v.BinaryOK()
	for name, uuid := range f.refs {
		if ok && bytes.Equal(uuid[:], data) {
			return name
		}
	}
	return ""
}
