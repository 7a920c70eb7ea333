package catalog

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
)

// replayer runs recorded commands on a cluster. Documents are written directly into the
// engine, routed by the tables under test.
type replayer struct {
	t        *testing.T
	c        *Cluster
	handlers map[string]engine.Handler
}

func newReplayer(t *testing.T) *replayer {
	c := New(Options{Still: true, Seed: 1, Hostname: "vm", OrphanDelay: 900 * time.Second})
	t.Cleanup(c.Close)
	return &replayer{t: t, c: c, handlers: c.Handlers()}
}

// run runs a command; ok is false for commands that are not in this package.
func (p *replayer) run(db string, cmd bson.Raw) (reply bson.D, err error, ok bool) {
	first, e := cmd.IndexErr(0)
	if e != nil {
		return nil, nil, false
	}
	name := first.Key()
	r := &engine.Request{DB: db, Name: name, Body: cmd}
	switch name {
	case "insert":
		p.insert(db, first.Value().StringValue(), cmd)
		return nil, nil, true
	case "delete":
		p.delete(db, first.Value().StringValue(), cmd)
		return nil, nil, true
	case "update":
		p.update(db, first.Value().StringValue(), cmd)
		return nil, nil, true
	case "createIndexes":
		p.index(db, first.Value().StringValue(), cmd)
		return nil, nil, true
	case "drop":
		p.c.Mu.Lock()
		p.c.DropCollection(db + "." + first.Value().StringValue())
		p.c.Mu.Unlock()
		return bson.D{}, nil, true
	case "dropDatabase":
		p.c.Mu.Lock()
		p.c.DropDatabase(db)
		p.c.Mu.Unlock()
		return bson.D{}, nil, true
	case "renameCollection":
		p.c.Mu.Lock()
		err := p.c.RenameCollection(first.Value().StringValue(), cmd.Lookup("to").StringValue(), false)
		p.c.Mu.Unlock()
		return bson.D{}, err, true
	}
	h := p.handlers[name]
	if h == nil {
		return nil, nil, false
	}
	reply, err = h(context.Background(), r)
	return reply, err, true
}

func (p *replayer) mustRun(cmd string) bson.D {
	p.t.Helper()
	reply, err, ok := p.run("admin", doc(p.t, cmd))
	if err != nil || !ok {
		p.t.Fatalf("%s: %v", cmd, err)
	}
	return reply
}

// insertRouted stores one document where it belongs.
func (p *replayer) insertRouted(db, coll string, d bson.Raw) error {
	c := p.c
	ns := db + "." + coll
	primary := c.EnsureDatabase(db)
	shard := primary
	if r := c.Routing(ns); r != nil {
		key, err := r.KeyOf(d)
		if err != nil {
			return err
		}
		shard = r.Owner(key)
	}
	into, err := c.EnsureCollection(shard, ns, c.UUID(), nil)
	if err != nil {
		return err
	}
	_, err = into.Insert(d)
	return err
}

func (p *replayer) insert(db, coll string, cmd bson.Raw) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	values, _ := cmd.Lookup("documents").Array().Values()
	for _, v := range values {
		// Documents that the server rejected are rejected here too.
		_ = p.insertRouted(db, coll, v.Document())
	}
}

func (p *replayer) delete(db, coll string, cmd bson.Raw) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	ns := db + "." + coll
	values, _ := cmd.Lookup("deletes").Array().Values()
	for _, v := range values {
		f, err := query.Parse(v.Document().Lookup("q").Document(), nil)
		if err != nil {
			p.t.Fatal(err)
		}
		limit, _ := asInt64(v.Document().Lookup("limit"))
		if db == "config" {
			p.deleteFrom(p.c.Config.Coll(db, coll), f, limit, nil)
			p.c.ConfigWritten(coll)
			continue
		}
		for _, s := range p.c.ShardNames() {
			at := p.c.data(s, ns)
			if at == nil {
				continue
			}
			r := p.c.Routing(ns)
			n := p.deleteFrom(at, f, limit, func(d bson.Raw) bool { return r == nil || r.Owns(s, d) })
			if limit > 0 && n > 0 {
				break
			}
		}
	}
}

func (p *replayer) deleteFrom(coll *engine.Coll, f *query.Filter, limit int64, owned func(bson.Raw) bool) (n int64) {
	var ids []engine.RecordID
	scan(coll, func(id engine.RecordID, d bson.Raw) bool {
		if ok, _ := f.Match(d); ok && (owned == nil || owned(d)) {
			ids = append(ids, id)
		}
		return limit == 0 || int64(len(ids)) < limit
	})
	for _, id := range ids {
		coll.Delete(id)
	}
	return int64(len(ids))
}
