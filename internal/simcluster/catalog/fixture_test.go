package catalog

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
)

// fixture runs commands on a cluster. Documents are written directly into the engine,
// routed by the tables under test.
type fixture struct {
	t        *testing.T
	c        *Cluster
	handlers map[string]engine.Handler
}

func newFixture(t *testing.T) *fixture {
	c := New(Options{Still: true, Seed: 1, Hostname: "vm", OrphanDelay: 900 * time.Second})
	t.Cleanup(c.Close)
	return &fixture{t: t, c: c, handlers: c.Handlers()}
}

// run runs a command on a database for at most an hour: a range across chunks hangs in 8.0.
func (p *fixture) run(db string, cmd bson.Raw) (bson.D, error) {
	name := cmd.Index(0).Key()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return p.handlers[name](ctx, &engine.Request{DB: db, Name: name, Body: cmd})
}

func (p *fixture) mustRun(cmd string) bson.D {
	p.t.Helper()
	reply, err := p.run("admin", doc(p.t, cmd))
	must.That(p.t, err == nil, "%s: %v", cmd, err)
	return reply
}

// insertRouted stores one document where it belongs.
func (p *fixture) insertRouted(db, coll string, d bson.Raw) error {
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

// doc makes a document from extended JSON.
func doc(t *testing.T, text string) bson.Raw {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), true, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}
