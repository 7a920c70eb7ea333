package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// findArgs are the arguments of a find.
type findArgs struct {
	db, coll string
	selection
	projection *query.Projection
	batch      int64 // size of the first batch, -1: by default
	single     bool
	keep       bool
	snapshot   bool
	tailable   bool
	await      bool // with tailable: getMore waits for data
}

func (c *Cluster) parseFind(r *engine.Request) (a findArgs, err error) {
	p, given := c.arguments(r), false
	a.db, a.coll = p.namespace()
	p.keep(a.parseTailable(r))
	a.filter = p.filter("filter")
	p.keep(a.parseSort(p.document("sort")))
	a.projection = p.projection("projection")
	a.skip, _ = p.count("skip")
	a.limit, _ = p.count("limit")
	if a.batch, given = p.count("batchSize"); !given {
		a.batch = firstBatch
	}
	a.hint = r.Lookup("hint")
	a.single = truthy(r.Lookup("singleBatch"))
	a.keep = truthy(r.Lookup("noCursorTimeout"))
	a.snapshot = readsSnapshot(r)
	return a, p.err
}

func (a *findArgs) parseSort(order bson.Raw) (err error) {
	if natural := value.Field(order, "$natural"); natural.Type != 0 {
		a.reverse = value.Float(natural) < 0
		return nil
	}
	if a.sort, err = query.ParseSort(order); err == nil && a.sort != nil {
		a.order = order
	}
	return err
}

func (c *Cluster) find(ctx context.Context, r *engine.Request) (bson.D, error) {
	a, err := c.parseFind(r)
	if err != nil {
		return nil, err
	}
	k, err := c.openFind(ctx, a)
	if err != nil {
		return nil, err
	}
	k.session = sessionOf(r)
	opened := c.catalog.Now()
	reply, err := c.firstBatchReply(k, a.batch, a.single)
	if err != nil {
		return nil, err
	}
	c.standOnShards(ctx, k, r, opened)
	reply = value.D(reply, value.When(a.snapshot, "atClusterTime", c.catalog.LastTimestamp()))
	return value.D("cursor", reply), nil
}

func (c *Cluster) openFind(ctx context.Context, a findArgs) (*cursor, error) {
	if c.many.reads(a.db, a.coll, a.filter) {
		return c.many.cursor(a), nil
	}
	if a.tailable {
		return c.openTail(a), nil
	}
	docs, err := c.read(ctx, a.db, a.coll, a.selection)
	if err != nil {
		return nil, err
	}
	k := &cursor{ns: a.db + "." + a.coll, docs: docs, keep: a.keep}
	if a.projection != nil {
		k.project = a.projection.Apply
	}
	return k, nil
}

// read returns the selected documents of a collection from all shards. It locks
// catalog.Mu itself.
func (c *Cluster) read(ctx context.Context, db, coll string, s selection) ([]bson.Raw, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	t, err := c.transactions.seenBy(transactionOf(ctx), c.target(db, coll, s.filter))
	if err != nil {
		return nil, err
	}
	defer c.timed(t, false, time.Now())
	return t.gather(ctx, s)
}

// environment holds what a command's expressions can use: the cluster's clock and the
// variables of its let argument.
func (c *Cluster) environment(r *engine.Request) (*expr.Env, error) {
	env := &expr.Env{Now: c.catalog.Now().UTC(), ClusterTime: c.catalog.LastTimestamp()}
	let, err := document(r, "let")
	if err != nil || let == nil {
		return env, err
	}
	vars := make(map[string]bson.RawValue)
	for e := value.Read(let); e.Next(); {
		x, err := env.Compile(e.Value)
		if err != nil {
			return env, err
		}
		v, err := x.Eval(nil, env)
		if err != nil {
			return env, err
		}
		vars[string(e.Key)] = v
	}
	env.Vars = vars
	return env, nil
}

// simpleCollation rejects collations other than simple, which are not supported.
func simpleCollation(v bson.RawValue) error {
	d, ok := v.DocumentOK()
	if !ok || len(d) <= 5 {
		return nil
	}
	if locale, _ := d.Lookup("locale").StringValueOK(); locale != "simple" {
		return status.Errorf(status.InvalidOptions, "this simulated cluster knows only the simple collation, not '%s'", locale)
	}
	return nil
}

func readsSnapshot(r *engine.Request) bool {
	d, ok := r.Lookup("readConcern").DocumentOK()
	if !ok {
		return false
	}
	level, _ := d.Lookup("level").StringValueOK()
	return level == "snapshot"
}

func sessionOf(r *engine.Request) string {
	d, ok := r.Lookup("lsid").DocumentOK()
	if !ok {
		return ""
	}
	return string(d.Lookup("id").Value)
}
