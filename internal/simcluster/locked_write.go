package simcluster

import (
	"context"
	"errors"
	"strings"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// lockedWrite runs a write to a collection with catalog.Mu held. When a transaction is in
// its way, it waits for the end of that and runs the write again; so write must not have
// changed anything when it returns a lockedError.
func (c *Cluster) lockedWrite(ctx context.Context, db, coll string, write func() error) error {
	for {
		err := c.underLock(func() error {
			if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
				return err
			}
			return write()
		})
		var locked *lockedError
		if !errors.As(err, &locked) {
			return err
		}
		if transactionOf(ctx) != nil {
			return writeConflict()
		}
		if err := waitFor(ctx, locked.by); err != nil {
			return err
		}
	}
}

// waitFor waits for the end of a transaction, as long as the command's client is there.
func waitFor(ctx context.Context, tx *transaction) error {
	var gone <-chan struct{}
	if conn, ok := ctx.Value(connectionKey{}).(*engine.Conn); ok {
		gone = conn.Gone
	}
	select {
	case <-tx.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-gone:
		return status.Errorf(status.ClientDisconnect, "operation was interrupted because a client disconnected")
	}
}

// connectionKey is the context key of a command's *engine.Conn.
type connectionKey struct{}

// awaitTransactions waits until no open transaction has touched one of the namespaces: a
// change of a collection itself, such as its removal, needs it alone.
func (c *Cluster) awaitTransactions(ctx context.Context, concerns func(ns string) bool) error {
	for {
		tx := c.transactionTouching(concerns)
		if tx == nil {
			return nil
		}
		if err := waitFor(ctx, tx); err != nil {
			return err
		}
	}
}

func (c *Cluster) transactionTouching(concerns func(ns string) bool) *transaction {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	for tx := range c.transactions {
		for ns := range tx.touched {
			if concerns(ns) {
				return tx
			}
		}
	}
	return nil
}

func is(ns string) func(string) bool { return func(other string) bool { return other == ns } }

func in(db string) func(string) bool {
	return func(ns string) bool { return strings.HasPrefix(ns, db+".") }
}

func (c *Cluster) underLock(write func() error) error {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	c.catalog.Timestamp()
	return write()
}
