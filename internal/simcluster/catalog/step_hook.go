package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
