package catalog

import "go.mongodb.org/mongo-driver/v2/bson"

// configShardUUID is the fixed uuid of the config server as a shard.
var configShardUUID = [16]byte{0x63, 0x6f, 0x6e, 0x66, 0x69, 0x67, 0x40, 0, 0x80}

// shardRefs are the uuids of the shards. Development versions after 8.0 let documents
// name a shard by its uuid instead of its name: config.chunks.shard and history,
// config.databases.primary, config.placementHistory.shards
// (db/global_catalog/shard_ref.cpp).
type shardRefs struct {
	uuids map[string][16]byte
}

// nameShard assigns a uuid to a new shard on versions that have shard uuids.
func (c *Cluster) nameShard(name string) {
	if c.features.refs == nil {
		return
	}
	uuid := configShardUUID
	if name != configServer {
		uuid = c.uuid()
	}
	c.features.refs.uuids[name] = uuid
}

// shardFields are the fields of config.shards that newer versions add.
func (f versionFeatures) shardFields(name string) bson.D {
	var d bson.D
	if f.replSetVersion {
		d = append(d, bson.E{Key: "replSetConfigVersion", Value: f.configVersion()})
	}
	if f.refs != nil {
		d = append(d, bson.E{Key: "uuid", Value: f.shardRef(name)})
	}
	return d
}

// configVersion is the replica set's version that the config server knows: none yet on
// the recorded 8.0. 1 is assumed for others.
func (f versionFeatures) configVersion() int64 {
	if f.observed8 {
		return -1
	}
	return 1
}

// shardRef is a document's reference to a shard: its uuid or its name.
func (f versionFeatures) shardRef(name string) any {
	if f.refs == nil {
		return name
	}
	uuid, ok := f.refs.uuids[name]
	if !ok {
		return name
	}
	return uuidValue(uuid)
}

// shardName resolves a reference, "" if it is unknown.
func (f versionFeatures) shardName(v bson.RawValue) string {
	if name, ok := v.StringValueOK(); ok {
		return name
	}
	_, data, ok := v.BinaryOK()
	if !ok || len(data) != 16 || f.refs == nil {
		return ""
	}
	for name, uuid := range f.refs.uuids {
		if uuid == [16]byte(data) {
			return name
		}
	}
	return ""
}
