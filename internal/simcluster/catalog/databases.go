package catalog

import (
	"cmp"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// database is one document of config.databases.
type database struct {
	name, primary string
	uuid          [16]byte
	timestamp     bson.Timestamp
	lastMod       int32
	partitioned   bool
	record        engine.RecordID
}

func (c *Cluster) databaseDocument(d *database) bson.D {
	return value.D("_id", d.name, "primary", c.release.shardRef(d.primary),
		value.When(!c.since(6), "partitioned", d.partitioned),
		"version", value.D("uuid", uuidValue(d.uuid), value.When(c.since(5), "timestamp", d.timestamp),
			"lastMod", d.lastMod))
}

// Primary is the primary shard of a database; ok is false if the database does not
// exist. config and admin are on the config server and have no primary. The caller
// holds Mu.
func (c *Cluster) Primary(db string) (shard string, ok bool) {
	d := c.dbs[db]
	if d == nil {
		return "", false
	}
	return d.primary, true
}

// Databases are the names of all databases, sorted. The caller holds Mu.
func (c *Cluster) Databases() []string { return sortedKeys(c.dbs) }

// EnsureDatabase returns a database's primary shard. At the first write it creates the
// database on the shard with the least data. The caller holds Mu for writing.
func (c *Cluster) EnsureDatabase(db string) string {
	if d := c.dbs[db]; d != nil {
		return d.primary
	}
	return c.createDatabase(db, c.emptiestShard(), false).primary
}

func (c *Cluster) createDatabase(name, primary string, partitioned bool) *database {
	if c.since(8) {
		c.logChange(configServer, "createDatabase.start", name, nil)
		defer c.logChange(configServer, "createDatabase", name, nil)
	}
	d := &database{
		name: name, primary: primary, partitioned: partitioned,
		uuid: c.UUID(), timestamp: c.Timestamp(), lastMod: 1,
	}
	d.record = c.config.insert("databases", c.databaseDocument(d))
	c.dbs[name] = d
	c.writePlacement(name, nil, d.timestamp, primary)
	return d
}

// DatabaseVersion is the version of a database, as messages between servers have it. The caller holds Mu.
func (c *Cluster) DatabaseVersion(name string) any {
	d := c.dbs[name]
	if d == nil {
		return nil
	}
	doc := c.databaseDocument(d)
	return doc[len(doc)-1].Value
}

func (c *Cluster) saveDatabase(d *database) {
	c.config.update("databases", d.record, c.databaseDocument(d))
}

// emptiestShard is the first of the shards with the fewest bytes that is not draining.
func (c *Cluster) emptiestShard() string {
	best, least := "", int64(-1)
	for _, s := range c.shards {
		if s.draining {
			continue
		}
		if n := nodeBytes(c.Shards[s.name]); least < 0 || n < least {
			best, least = s.name, n
		}
	}
	return best
}

// enableSharding allows a database's collections to be sharded and creates the database
// if needed (db/s/config/sharding_catalog_manager_database_operations.cpp).
func (c *Cluster) enableSharding(db, primary string) error {
	because := fmt.Sprintf("Database %s could not be created :: caused by :: ", db)
	switch db {
	case "admin", "local":
		return status.Errorf(status.InvalidOptions, "%s can't enable sharding on the '%s' database", because, db)
	case "config":
		return nil
	}
	if primary != "" && c.shard(primary) == nil {
		return status.Errorf(status.ShardNotFound, "%sShard %s not found", because, primary)
	}
	d := c.dbs[db]
	if d == nil {
		c.createDatabase(db, cmp.Or(primary, c.emptiestShard()), true)
		return nil
	}
	if primary != "" && primary != d.primary {
		return status.Errorf(status.NamespaceExists, "%sdatabase already created on a primary which is different from %s", because, primary)
	}
	if !d.partitioned {
		d.partitioned = true
		c.saveDatabase(d)
	}
	return nil
}

// reloadDatabases reads config.databases again after a client wrote into it.
func (c *Cluster) reloadDatabases() {
	c.dbs = make(map[string]*database)
	for id, doc := range c.config.all("databases") {
		d := &database{record: id}
		d.name, _ = doc.Lookup("_id").StringValueOK()
		d.primary = c.release.shardName(doc.Lookup("primary"))
		d.partitioned = truthy(doc.Lookup("partitioned")) || c.since(6)
		if _, data, ok := doc.Lookup("version", "uuid").BinaryOK(); ok && len(data) == 16 {
			d.uuid = [16]byte(data)
		}
		d.timestamp.T, d.timestamp.I, _ = doc.Lookup("version", "timestamp").TimestampOK()
		n, _ := asInt64(doc.Lookup("version", "lastMod"))
		d.lastMod = int32(n)
		c.dbs[d.name] = d
	}
}
