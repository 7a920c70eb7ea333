package holdings_test

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// fixture is an engine on a simulated cluster.
type fixture struct {
	*simulated.Cluster
	engine *holdings.Engine
	end    func() // stops the engine
}

func onSim(t *testing.T, o simcluster.Options, ho holdings.Options, test func(t *testing.T, r *fixture)) {
	t.Helper()
	o.Still = true
	simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
		r := &fixture{Cluster: c}
		r.start(t, c.Client, ho)
		defer func() { r.end() }()
		test(t, r)
	})
}

// start creates and runs an engine, as a new process does.
func (r *fixture) start(t *testing.T, src holdings.Source, o holdings.Options) {
	if r.end != nil {
		r.end()
	}
	r.engine = holdings.New(src, r.Watcher, profile.Yorkie(), o)
	r.end = simulated.Start(t, r.engine.Run)
}

func (r *fixture) snapshot() *holdings.Snapshot { return r.engine.Snapshot(r.Watcher.Table()) }

func (r *fixture) collection(name string) holdings.Collection {
	s := r.snapshot().Collections
	if i := slices.IndexFunc(s, func(c holdings.Collection) bool { return c.NS.Collection() == name }); i >= 0 {
		return s[i]
	}
	return holdings.Collection{}
}

// busiest returns the most documents and commands that were read in any minute.
func (r *fixture) busiest() (documents, commands int) {
	sent := slices.DeleteFunc(r.Log.All(), func(s simulated.Sent) bool { return s.Name != "aggregate" && s.Name != "getMore" })
	for i, from := range sent {
		sum, n := 0, 0
		for _, x := range sent[i:] {
			if x.At.Sub(from.At) < time.Minute {
				sum, n = sum+x.Documents, n+1
			}
		}
		documents, commands = max(documents, sum), max(commands, n)
	}
	return documents, commands
}

type place struct {
	project bson.ObjectID
	shard   string
}

type weight struct{ rows, bytes int64 }

// truth sums every row of the collections of the newest layout by project and shard, as the newest table places them.
func (r *fixture) truth(t *testing.T) map[place]weight {
	t.Helper()
	out := map[place]weight{}
	for _, name := range []string{"documents", "clients", "schemas", "changes", "snapshots", "snapshot_bodies", "versionvectors",
		"revisions"} {
		ns := topology.Namespace(db + "." + name)
		c := r.Watcher.Table().Collection(ns)
		for _, doc := range r.Rows(t, ns) {
			shard := r.Watcher.Table().Primary(db)
			if c != nil {
				_, chunk := c.Chunks.Find(must.Get(c.Key.Extract(doc)))
				shard = chunk.Shard
			}
			p := place{doc.Lookup("project_id").ObjectID(), shard}
			out[p] = weight{out[p].rows + 1, out[p].bytes + int64(len(doc))}
		}
	}
	return out
}
