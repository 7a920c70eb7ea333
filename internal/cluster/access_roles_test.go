package cluster_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// grant is a privilege on a collection, on all of a database ("") or, without a
// database, on the cluster.
func grant(db, coll string, actions ...string) bson.D {
	on := bson.D{{Key: "db", Value: db}, {Key: "collection", Value: coll}}
	if db == "" {
		on = bson.D{{Key: "cluster", Value: true}}
	}
	return bson.D{{Key: "resource", Value: on}, {Key: "actions", Value: actions}}
}

// Two roles smaller than clusterMonitor and clusterManager: one to look, one to act
// on the data of one database. What each can't do is known.
func TestSmallCustomRolesAreEnough(t *testing.T) {
	look := bson.A{
		grant("", "", "listDatabases", "listShards", "getShardMap", "connPoolStats", "serverStatus", "inprog"),
		grant("config", "", "find", "listCollections", "listIndexes", "collStats"),
		grant("yorkie-meta", "", "find", "collStats", "dbStats", "listCollections", "listIndexes"),
	}
	act := append(look[:len(look):len(look)],
		grant("yorkie-meta", "", "splitChunk", "moveChunk", "enableSharding", "clearJumboFlag"),
		grant("config", "settings", "find", "update", "insert", "remove"),
		grant("config", "tags", "find", "update", "insert", "remove"),
		grant("config", "shards", "find", "update"),
	)
	all := map[string]bool{"Balanced": true}
	for _, a := range changes() {
		all[a.name] = true
	}
	lacks := map[string]map[string]bool{
		"viewer":   all,
		"operator": {"SetBalancing": true}, // a field of config.collections
	}
	behindAccess(t, "5.0", []access.User{{Name: "root", Password: "pw"}}, func(t *testing.T, sim *simcluster.Cluster, connect func(user, password string) (*cluster.Client, error)) {
		root, err := connect("root", "pw")
		must(t, err)
		attempts := append(readings(metaOf(t, root)), changes()...)
		for user, privileges := range map[string]bson.A{"viewer": look, "operator": act} {
			must(t, run(t, sim, "admin", bson.D{{Key: "createRole", Value: user + "Role"}, {Key: "privileges", Value: privileges}, {Key: "roles", Value: bson.A{}}}))
			must(t, run(t, sim, "admin", bson.D{{Key: "createUser", Value: user}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{user + "Role"}}}))
			c, err := connect(user, "pw")
			must(t, err)
			_, err = c.Server(t.Context())
			must(t, err)
			for _, a := range attempts {
				err := a.do(t.Context(), c)
				if forbidden := fault.Of(err) == fault.Forbidden && err != nil; forbidden && !lacks[user][a.name] {
					t.Errorf("%s: %s: %v", user, a.name, err)
				} else if !forbidden && lacks[user][a.name] && fault.Of(err) != fault.NotFound {
					t.Errorf("%s may do %s: %v", user, a.name, err)
				}
			}
		}
	})
}
