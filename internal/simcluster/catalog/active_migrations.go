package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// Migration describes a running chunk migration.
type Migration struct {
	NS       string
	Min, Max bson.Raw
	From, To string
	Number   int64     // since the cluster began
	Begun    time.Time // when the donor began; zero before
	Step     int       // current step of the donor: 1 to 6, 0 before
	Received int       // last completed step of the recipient, of 7
	Receives bool      // the recipient has begun, and is not done
	Cloned   bool      // the recipient has documents
	Options  MoveOptions
	Version  bson.A // of the collection, or for the balancer of the chunk: major and minor, epoch, timestamp
}

// migration is one running chunk migration.
type migration struct {
	*completion
	Migration
	free   chan struct{} // closed when its shards are free again, before a donor that stepped down is asked again
	record engine.RecordID
	asked  context.Context // of the first request; only its values are used
}

// registry has the running migrations. A shard donates or receives only one chunk at a
// time, over all collections (db/s/active_migrations_registry.cpp). Each side has its
// own list: the donor registers a migration when it is requested, the recipient only
// when the donor contacts it in step 3. Therefore two opposite migrations that begin
// together refuse each other.
type registry struct {
	running []*migration
	ranges  bool // 8.0: messages name a range and its recipient in other words
	count   int64
}

// add registers a migration at its donor. If an identical one is running, it is
// returned as join.
func (g *registry) add(m *migration) (join *migration, err error) {
	for _, o := range g.running {
		if o.NS == m.NS && o.From == m.From && o.To == m.To && compareKeys(o.Min, m.Min) == 0 && compareKeys(o.Max, m.Max) == 0 {
			return o, nil
		}
	}
	if err := g.busy(m.From, m); err != nil {
		return nil, err
	}
	g.count++
	m.Number = g.count
	g.running = append(g.running, m)
	return nil, nil
}

// busy is the error of a shard that already takes part in a migration other than m.
func (g *registry) busy(shard string, m *migration) error {
	const busy = "Unable to start new balancer operation because this shard is currently "
	for _, o := range g.running {
		switch {
		case o == m:
		case o.From == shard && g.ranges:
			return status.Errorf(status.ConflictingOperationInProgress,
				busy+"donating range 'min: %s - max: %s' for namespace %s to shard %s", text(o.Min), text(o.Max), o.NS, o.To)
		case o.From == shard:
			return status.Errorf(status.ConflictingOperationInProgress, busy+"donating chunk %s for namespace %s to %s",
				rangeText(o.Min, o.Max), o.NS, o.To)
		case o.To == shard && o.Receives:
			return status.Errorf(status.ConflictingOperationInProgress, busy+"receiving chunk %s for namespace %s from %s",
				rangeText(o.Min, o.Max), o.NS, o.From)
		}
	}
	return nil
}

// begins reports whether another migration of the namespace has the same lower bound.
func (g *registry) begins(m *migration) bool {
	for _, o := range g.running {
		if o != m && o.NS == m.NS && compareKeys(o.Min, m.Min) == 0 {
			return true
		}
	}
	return false
}

func (g *registry) remove(m *migration) {
	g.running = slices.DeleteFunc(slices.Clone(g.running), func(o *migration) bool { return o == m })
}

// donating is a migration of the namespace with this donor (any donor if empty).
func (g *registry) donating(ns, shard string) *migration {
	for _, m := range g.running {
		if m.NS == ns && (shard == "" || m.From == shard) {
			return m
		}
	}
	return nil
}

// Migrations lists the running migrations. The caller holds Mu.
func (c *Cluster) Migrations() []Migration {
	out := make([]Migration, len(c.moves.running))
	for i, m := range c.moves.running {
		out[i] = m.Migration
	}
	return out
}

// Quiesce locks Mu once ns has no migration and is not being resharded: DDL waits for
// both. On error (code 50) Mu is not held.
func (c *Cluster) Quiesce(ctx context.Context, ns string) error {
	for {
		c.Mu.Lock()
		var busy <-chan struct{}
		if m := c.moves.donating(ns, ""); m != nil {
			busy = m.free
		} else if o := c.reshard; o != nil && o.NS == ns {
			busy = o.done
		} else {
			return nil
		}
		c.Mu.Unlock()
		if err := await(ctx, busy); err != nil {
			return err
		}
	}
}

// await waits for done within the command's time limit.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return expired(ctx)
	}
}

// expired translates a context error into the server's error.
func expired(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return status.Errorf(status.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return status.Errorf(status.Interrupted, "operation was interrupted")
}

func errShutdown() error {
	return status.Errorf(status.InterruptedAtShutdown, "interrupted at shutdown")
}

// Step is a step of a command or a migration at which the Hook is called.
type Step string

// The steps, in the order in which an operation passes them; not every operation
// passes all.
const (
	Received   Step = "received"   // arrived, nothing done
	Targeted   Step = "targeted"   // migration: source and target are known, nothing done
	Started    Step = "started"    // migration: moveChunk.start is logged
	Cloning    Step = "cloning"    // migration: the recipient is about to copy
	Cloned     Step = "cloned"     // migration: the copy is made (the donor's step 3)
	CaughtUp   Step = "caught-up"  // migration: what changed meanwhile is copied (step 4)
	Critical   Step = "critical"   // migration: the critical section begins (step 5)
	Committing Step = "committing" // the config server is about to change
	Committed  Step = "committed"  // it has changed, its log does not say so yet
	Logged     Step = "logged"     // migration: the commit is logged
	Cleaning   Step = "cleaning"   // migration: the donor's copy is about to be deleted
	Replying   Step = "replying"   // done, not answered yet
)

// Point identifies an operation and its step.
type Point struct {
	Command  string // the command's name; "balancer" for a migration that the balancer began
	Step     Step
	NS       string
	Min, Max bson.Raw
	From, To string // donor and recipient of a migration; otherwise From is the owner
	// Answer returns an error to all clients that wait for a migration, while the
	// migration goes on. Nil for commands.
	Answer func(error)
}

// Hook is called at every step, without Mu held, and may block. An error ends the
// operation there: earlier effects stay, later steps do not run.
type Hook func(context.Context, Point) error

// SteppedDown is the error with which a Hook makes the donor's primary step down.
type SteppedDown struct{ Term int64 } // the term in which it was primary

func (*SteppedDown) Error() string { return "operation was interrupted" }

// atStep calls the hook. Mu is not held.
func (c *Cluster) atStep(ctx context.Context, p Point) error {
	if !c.hookArmed() {
		return nil
	}
	return c.opts.Hook(ctx, p)
}

// hookArmed reports whether the hook may have an effect.
func (c *Cluster) hookArmed() bool {
	return c.opts.Hook != nil && (c.opts.Armed == nil || c.opts.Armed())
}
