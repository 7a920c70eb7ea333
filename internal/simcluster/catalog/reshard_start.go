package catalog

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// newResharding prepares an operation on a collection. The caller holds Mu.
func (c *Cluster) newResharding(command string, r *Routing, key pattern) *resharding {
	db, _, _ := splitNS(r.NS)
	o := &resharding{
		c: c, command: command, ns: r.NS, temp: db + ".system.resharding." + uuidText(r.UUID), source: r.UUID,
		key: key, initial: 1, uuid: c.uuid(), state: "unused",
		early: make(chan struct{}), done: make(chan struct{}), abort: make(chan struct{}), hurry: make(chan struct{}),
	}
	o.copying.begun = c.Now()
	return o
}

// start runs the operation on its own goroutine. The caller holds Mu; asked is the
// context of the request.
func (o *resharding) start(asked context.Context) {
	c := o.c
	c.reshard, o.asked = o, asked
	c.work.Go(func() {
		o.err = o.run(c.life)
		c.Mu.Lock()
		c.reshard = nil
		c.Mu.Unlock()
		close(o.done)
	})
}

// result waits for an operation; a nil operation means that there was nothing to do.
func (o *resharding) result(ctx context.Context, err error) (bson.D, error) {
	if o == nil || err != nil {
		return bson.D{}, err
	}
	select {
	case <-o.done:
		return bson.D{}, o.err
	case <-o.early:
		return nil, o.earlyErr
	case <-ctx.Done():
		return nil, expired(ctx)
	}
}

// runningOperation is the running operation that this command started on a collection,
// or error 339: abortMoveCollection does not end a reshardCollection.
func (c *Cluster) runningOperation(ns, command string) (*resharding, error) {
	o := c.reshard
	command = strings.TrimPrefix(command, "abort")
	command = strings.TrimPrefix(command, "commit")
	if o == nil || o.ns != ns || !strings.EqualFold(o.command, command) {
		return nil, status.Errorf(status.NoSuchReshardCollection, "Could not find resharding-related metadata that matches the given namespace")
	}
	return o, nil
}

// runCommitReshardCollection makes a running resharding commit as soon as everything is
// copied.
func (c *Cluster) runCommitReshardCollection(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	c.Mu.Lock()
	o, err := c.runningOperation(ns, req.Name)
	if err != nil && c.features.observed8 {
		err = status.Errorf(status.NoSuchReshardCollection, "Could not find resharding metadata for %s", ns)
	}
	if err == nil && !o.hurried {
		o.hurried = true
		close(o.hurry)
	}
	c.Mu.Unlock()
	return o.result(ctx, err)
}

// sentBy notes the application of the client that began the operation. The caller holds Mu.
func (o *resharding) sentBy(req *engine.Request) {
	if o != nil && o.app == "" {
		o.app = appOf(req)
	}
}
