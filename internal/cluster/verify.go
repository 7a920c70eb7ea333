package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// verify makes sure that a mongos of the cluster answers, by one hello for all who wait, after
// the start and whenever all servers were lost. Without it, reads of a mongod at the address
// would find a cluster without shards, and commands meant for one cluster could reach another
// that came to its address. In the pause after a failure its error is given at once.
func (c *Client) verify(ctx context.Context, p *pool) error {
	if p.verified.Load() {
		return nil
	}
	if err := p.hello.pausing(time.Now()); err != nil {
		return err
	}
	done := c.flight.DoChan("hello", func() (any, error) {
		if p.verified.Load() {
			return nil, nil
		}
		// Not the caller's context: others wait for the answer too.
		ctx, cancel := context.WithTimeout(p.life, 2*c.timeout)
		defer cancel()
		return nil, c.firstHello(ctx, p)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return c.classify(ctx, ctx.Err(), "say hello", "")
	}
}

// firstHello sends hello and, without an answer within a second, a second one. The
// driver can miss that its server is available if it learns so exactly when the first
// operation begins to wait; the second operation finds the server at once.
func (c *Client) firstHello(ctx context.Context, p *pool) error {
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, min(time.Second, c.timeout/2))
	defer cancel()
	err := c.requireMongos(soon, p)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		err = c.requireMongos(ctx, p)
	}
	if fault.Of(err) == fault.Unavailable {
		err = withConnectAdvice(err, p.tls)
	}
	// The driver's monitors see what a server is without signing in, which may fail exactly because the
	// cluster's users are not those of a shard.
	if other := p.servers.otherKind(); other != nil && (fault.Of(err) == fault.Unavailable || fault.Of(err) == fault.Forbidden) {
		err = notMongos(p.uri, *other)
	}
	if err == nil {
		err = c.requireSameCluster(ctx, p)
	}
	if ctx.Err() != nil && fault.Of(err) == fault.Internal {
		return err // given up by the caller; that says nothing about the cluster
	}
	if err == nil {
		p.verified.Store(true)
	}
	p.hello.note(began, err)
	return err
}

// requireSameCluster checks that the cluster is the one that answered first. Until one did, any is.
func (c *Client) requireSameCluster(ctx context.Context, p *pool) error {
	known := c.clusterID.Load()
	if known == nil || *known == "" {
		return nil
	}
	id, err := c.clusterIDOf(ctx, p)
	if err != nil {
		return err
	}
	return c.checkID(p, id)
}

// checkID compares an id with that of the cluster that answered first. When another one answers,
// every command fails until the first is back: plans, runs and what is measured belong to that.
func (c *Client) checkID(p *pool, id string) error {
	known := c.clusterID.Load()
	if known == nil || *known == "" {
		c.clusterID.Store(&id)
		return nil
	}
	if id == "" || id == *known { // one that may not be read is not known to be another
		return nil
	}
	p.verified.Store(false)
	return topology.OtherCluster(*known, id)
}

// requireMongos sends hello and checks that a mongos answers.
func (c *Client) requireMongos(ctx context.Context, p *pool) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	hello := bson.D{{Key: "hello", Value: 1}}
	reply, err := p.run(ctx, "admin", hello)
	if err != nil && connectionBroken(ctx, err) {
		reply, err = p.run(ctx, "admin", hello)
	}
	if err = c.classify(ctx, err, "say hello", ""); err != nil {
		return err
	}
	if isMongos(reply) {
		return nil
	}
	return notMongos(p.uri, c.mongodOf(ctx, p, reply))
}
