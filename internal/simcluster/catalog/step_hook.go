package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Step is a place in the course of a command or a migration where a Hook is asked.
type Step string

// The steps, in the order in which an operation passes them; not every operation
// passes all.
const (
	Received   Step = "received"   // arrived, nothing done
	Targeted   Step = "targeted"   // a migration's ends are known, nothing done
	Started    Step = "started"    // migration: moveChunk.start is logged
	Cloning    Step = "cloning"    // migration: the recipient is about to copy
	Cloned     Step = "cloned"     // migration: the copy is made (the donor's step 3)
	CaughtUp   Step = "caught-up"  // migration: what changed meanwhile is copied (step 4)
	Critical   Step = "critical"   // migration: the critical section begins (step 5)
	Committing Step = "committing" // the config server is about to change
	Committed  Step = "committed"  // it has changed, its log does not say so yet
	Logged     Step = "logged"     // migration: the commit is logged
	Cleaning   Step = "cleaning"   // migration: the donor's copy is about to go
	Replying   Step = "replying"   // all done, no answer given
)

// Point says which operation is at which step.
type Point struct {
	Command  string // the command's name; "balancer" for a migration that the balancer began
	Step     Step
	NS       string
	Min, Max bson.Raw
	From, To string // the shards that take part: of a migration both, else the owner alone
	// Answer gives everybody who waits for a migration this error now, while the
	// migration goes on. Nil for commands, whose callers the context knows.
	Answer func(error)
}

// Hook is asked at every step, without Mu held, and may take its time. An error ends
// the operation there: what was before has happened, what comes after does not.
type Hook func(context.Context, Point) error

// SteppedDown is what a Hook answers when the donor of a migration stops being
// primary at that step.
type SteppedDown struct{ Term int64 } // the term in which it was primary

func (*SteppedDown) Error() string { return "operation was interrupted" }

// atStep asks the hook. Mu is not held.
func (c *Cluster) atStep(ctx context.Context, p Point) error {
	if !c.hookArmed() {
		return nil
	}
	return c.opts.Hook(ctx, p)
}

// hookArmed reports whether the hook may do anything.
func (c *Cluster) hookArmed() bool {
	return c.opts.Hook != nil && (c.opts.Armed == nil || c.opts.Armed())
}
