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

// Disks reads the disk usage of the shards with one dbStats, which the mongos sends to
// all shards. If some shards fail, the answers of the others are used: the server's
// error reply contains them.
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
			continue // a config server, or a shard added just now
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

// ownerOf finds the shard for an address "set/host:port,…", by replica set name or else
// by host. Members may change, and config.shards may differ from the mongos's view.
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

// decodeDisk decodes one shard's answer; good is false for an error. A shard without
// data of the database reports 0, one whose system call failed -1 (MongoDB 4.4 to 8.0,
// dbcommands.cpp, database_impl.cpp).
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
