package cluster

import (
	"context"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// mongod is a server that is no mongos, as far as it says what it is.
type mongod struct {
	set           string // name of its replica set; "" for a standalone
	uninitiated   bool   // its replica set is
	arbiter       bool
	configServer  bool
	shard         string // name of its shard
	configServers string // of its cluster: set/host:port,…
}

func isMongos(hello bson.Raw) bool {
	msg, _ := hello.Lookup("msg").StringValueOK()
	return msg == "isdbgrid"
}

// mongodOf reads what a mongod is. Whether it belongs to a shard is not in its hello.
func (c *Client) mongodOf(ctx context.Context, p *pool, hello bson.Raw) mongod {
	var m mongod
	m.set, _ = hello.Lookup("setName").StringValueOK()
	m.uninitiated, _ = hello.Lookup("isreplicaset").BooleanOK()
	m.arbiter, _ = hello.Lookup("arbiterOnly").BooleanOK()
	if _, err := hello.LookupErr("configsvr"); err == nil {
		m.configServer = true
	}
	if m.set == "" || m.arbiter || m.configServer {
		return m
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if reply, err := p.run(ctx, "admin", bson.D{{Key: "shardingState", Value: 1}}); err == nil { // else it may not be read
		m.shard, _ = reply.Lookup("shardName").StringValueOK()
		m.configServers, _ = reply.Lookup("configServer").StringValueOK()
	}
	return m
}

// notMongos is the error for an address of a mongod: what it is, and where a mongos may be.
func notMongos(uri URI, m mongod) error {
	what, remedy := "standalone", "shardboard is for sharded clusters."
	switch {
	case m.configServer:
		what = "config server of replica set " + quoted(m.set)
		remedy = "The mongos of its cluster are listed in config.mongos there."
	case m.arbiter:
		what, remedy = "arbiter of replica set "+quoted(m.set), "It has no data."
	case m.uninitiated:
		what, remedy = "member of a replica set that is not initiated", "It has no data."
	case m.shard != "":
		what = "member of shard " + quoted(m.shard)
		remedy = "The mongos of its cluster are listed in config.mongos of the config servers."
		if m.configServers != "" {
			remedy = "The mongos of its cluster are listed in config.mongos of the config servers, " + quoted(m.configServers) + "."
		}
	case m.set != "" && isAtlas(uri.Hosts()):
		what = "member of replica set " + quoted(m.set)
		remedy = "On Atlas, only clusters of type sharded have one; free and flex clusters do not."
	case m.set != "":
		what = "member of replica set " + quoted(m.set)
		remedy = "If that set is a shard, its cluster has a mongos; if not, there is nothing that shardboard could show."
	}
	return fault.New(fault.Invalid, "%s is a mongod (%s), not a mongos; point --uri at a mongos. %s", uri.Hosts(), what, remedy)
}

// isAtlas reports whether one of the hosts is of MongoDB Atlas.
func isAtlas(hosts string) bool {
	for host := range strings.SplitSeq(hosts, ",") {
		name, _, _ := strings.Cut(strings.ToLower(host), ":")
		if strings.HasSuffix(strings.TrimSuffix(name, "."), atlasDomain) {
			return true
		}
	}
	return false
}
