package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/topology"
)

// Disks reads how full the disks of shards are from one dbStats, which the
// mongos sends to all shards whatever the database. When only some of them
// fail, those that answered count: the server's error has their answers too.
func (c *Client) Disks(ctx context.Context, db string, shards []topology.Shard) (map[string]topology.Disk, error) {
	at := time.Now()
	reply, err := c.one(ctx, db, bson.D{{Key: "dbStats", Value: int32(1)}},
		readOp{what: "read how full the disks are", privilege: "dbStats on " + db})
	if err != nil {
		var failed mongo.CommandError
		if !errors.As(err, &failed) {
			return nil, err
		}
		reply = failed.Raw
	}
	raw, _ := reply.Lookup("raw").DocumentOK()
	out := make(map[string]topology.Disk, len(shards))
	answers := 0
	for w := walk(raw); w.next(); {
		stats, ok := w.doc()
		name := ownerOf(string(w.key), shards)
		if !ok || name == "" {
			continue // a config server, or a shard that was added just now
		}
		d, good := decodeDisk(stats, at)
		if out[name] = d; good {
			answers++
		}
	}
	if err != nil && answers == 0 {
		return nil, err
	}
	for _, s := range shards {
		if _, ok := out[s.Name]; !ok {
			out[s.Name] = topology.NoDisk("unreachable")
		}
	}
	return out, nil
}

// ownerOf names the shard that the mongos calls "set/host:port,…": that with the
// name of the replica set, else one of these hosts. Members come and go, and
// config.shards may be behind or ahead of the mongos.
func ownerOf(address string, shards []topology.Shard) string {
	set, hosts, found := strings.Cut(address, "/")
	if !found {
		set, hosts = "", address
	}
	members := strings.Split(hosts, ",")
	byHost := ""
	for _, s := range shards {
		if set != "" && s.ReplSet == set {
			return s.Name
		}
		if slices.ContainsFunc(s.Hosts, func(h string) bool { return slices.Contains(members, h) }) {
			byHost = s.Name
		}
	}
	return byHost
}

// decodeDisk reads one shard's answer; good is false when it is a failure. A
// shard that has nothing of the database says 0, one whose operating system
// failed to tell says -1 (MongoDB 4.4 to 8.0, dbcommands.cpp, database_impl.cpp).
func decodeDisk(stats bson.Raw, at time.Time) (d topology.Disk, good bool) {
	used, total := int64(-1), int64(-1)
	good = true
	w := walk(stats)
	for w.next() {
		n, ok := w.number()
		switch string(w.key) {
		case "fsUsedSize":
			used = orNone(n, ok)
		case "fsTotalSize":
			total = orNone(n, ok)
		case "ok":
			good = w.truthy()
		}
	}
	switch {
	case !good:
		return topology.NoDisk("unreachable"), false
	case used < 0 || total <= 0 || used > total:
		return topology.NoDisk("noDisk"), true
	}
	figure := func(n int64) topology.Figure {
		return topology.Figure{Known: true, Value: n, Exact: true, Method: "dbStats", At: at}
	}
	return topology.Disk{Used: figure(used), Total: figure(total)}, true
}

func orNone(n int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return n
}
