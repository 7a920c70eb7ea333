package catalog

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
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

func (s *shard) document(f versionFeatures) bson.D {
	d := bson.D{
		{Key: "_id", Value: s.name},
		{Key: "host", Value: s.host},
		{Key: "state", Value: int32(1)},
	}
	if f.dbTimestamp {
		d = append(d, bson.E{Key: "topologyTime", Value: s.topology})
	}
	d = append(d, f.shardFields(s.name)...)
	if s.hasTags {
		tags := make(bson.A, len(s.tags))
		for i, t := range s.tags {
			tags[i] = t
		}
		d = append(d, bson.E{Key: "tags", Value: tags})
	}
	if s.draining {
		d = append(d, bson.E{Key: "draining", Value: true})
	}
	return d
}

func (c *Cluster) registerShard(name, address string) {
	set := name
	if name == configServer {
		set = "cfg"
	}
	s := &shard{name: name, host: set + "/" + address, topology: c.Timestamp()}
	c.nameShard(s.name)
	s.record = c.config.insert("shards", s.document(c.features))
	c.shards = append(c.shards, s)
	c.logAddedShard(s)
}

func (c *Cluster) logAddedShard(s *shard) {
	inProgress := func(on bool) bson.D {
		return bson.D{{Key: "addOrRemoveShardInProgress", Value: bson.D{{Key: "inProgress", Value: on}}}}
	}
	c.logParameter(inProgress(true))
	defer c.logParameter(inProgress(false))
	c.logChange(configServer, "addShard", "", bson.D{{Key: "name", Value: s.name}, {Key: "host", Value: s.host}})
}

// logParameter logs the cluster parameter that 8.0 sets while shards come and go.
func (c *Cluster) logParameter(parameter bson.D) {
	if !c.features.observed8 {
		return
	}
	c.logChange(configServer, "setClusterParameter.start", "config.clusterParameters", parameter)
	c.logChange(configServer, "setClusterParameter.end", "config.clusterParameters", parameter)
}

func (c *Cluster) saveShard(s *shard) { c.config.update("shards", s.record, s.document(c.features)) }

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
		return "cfg/" + c.opts.ConfigHost
	}
	if s := c.shard(name); s != nil {
		return s.host
	}
	return ""
}

// reloadShards reads config.shards again after a client wrote into it.
func (c *Cluster) reloadShards() {
	var list []*shard
	c.config.each("shards", func(id engine.RecordID, doc bson.Raw) {
		s := &shard{record: id}
		s.name, _ = doc.Lookup("_id").StringValueOK()
		if c.Shards[s.name] == nil {
			return
		}
		s.host, _ = doc.Lookup("host").StringValueOK()
		s.draining = truthy(doc.Lookup("draining"))
		s.topology.T, s.topology.I, _ = doc.Lookup("topologyTime").TimestampOK()
		if tags, ok := doc.Lookup("tags").ArrayOK(); ok {
			s.hasTags = true
			values, _ := tags.Values()
			for _, v := range values {
				if t, ok := v.StringValueOK(); ok {
					s.tags = append(s.tags, t)
				}
			}
		}
		list = append(list, s)
	})
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
