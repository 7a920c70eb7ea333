package simcluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/status"
)

// Step is a place in the course of an operation.
type Step = catalog.Step

// The steps. An operation passes them in this order; [FaultPoints] tells which
// operation passes which.
const (
	Received   = catalog.Received   // arrived, nothing done
	Targeted   = catalog.Targeted   // migration: its ends are known, nothing done
	Started    = catalog.Started    // migration: moveChunk.start is logged
	Cloning    = catalog.Cloning    // migration: the recipient is about to copy
	Cloned     = catalog.Cloned     // migration: the copy is made (the donor's step 3)
	CaughtUp   = catalog.CaughtUp   // migration: what changed meanwhile is copied (step 4)
	Critical   = catalog.Critical   // migration: the critical section begins (step 5)
	Committing = catalog.Committing // checked; the config server is about to change
	Committed  = catalog.Committed  // it has changed, config.changelog does not say so yet
	Logged     = catalog.Logged     // migration: the commit is logged
	Cleaning   = catalog.Cleaning   // migration: the donor's copy is about to be deleted
	Replying   = catalog.Replying   // all done, the answer not given
)

// Rule plants a fault: where (command, step, namespace, which occurrence) and what
// (wait, another client, an error, a cut connection). A split that is done but whose
// answer never arrives:
//
//	cluster.Faults().Add(Rule{Command: "split", At: Replying, Cut: true})
//
// A donor that steps down before the config server commits, while somebody watches:
//
//	rule := cluster.Faults().Add(Rule{Command: "moveChunk", At: Committing, NS: "app.c", Hold: true, StepDown: true})
//	go admin.RunCommand(ctx, move)
//	<-rule.Reached() // the migration waits there
//	rule.Remove()    // now the donor steps down
//
// A second operator between the check and the commit, and the proof that the cluster
// was asked once:
//
//	cluster.Faults().Add(Rule{Command: "mergeChunks", At: Committing, Do: Other("admin", split)})
//	admin.RunCommand(ctx, merge)
//	if n := len(cluster.Faults().Seen("mergeChunks")); n != 1 { … }
//
// A command that arrives late, when its client has long given up:
//
//	cluster.Faults().Add(Rule{Command: "split", At: Received, Cut: true, GoOn: true})
//	cluster.Faults().Add(Rule{Command: "split", At: Committing, Delay: time.Minute})
//
// Rules strike what comes over connections, and migrations of the balancer; commands
// of the process itself they pass over. Of several that match all happen, in the order
// in which they were added, and the first error wins. All waiting is on the clock of
// package time, so that a testing/synctest bubble is in command of it, and no dice are
// thrown: the same rules and commands give the same faults.
type Rule struct {
	// Where. Command is a name as clients send it; "move" is every chunk migration,
	// whoever asked for it, "balancer" those of the balancer; empty is every command but
	// handshakes. An empty NS is any namespace. Match looks at the command's document; nil
	// takes all, and what the balancer does has none.
	Command string
	At      Step
	NS      string
	Match   func(command bson.Raw) bool

	// Which occurrence of all that match: the Nth first (0 and 1 are the first one), then
	// as many as Times says (0 is one, negative all until the rule is removed) or, with
	// For, all that come so soon after the first.
	Nth, Times int
	For        time.Duration

	// What, in this order. Hold waits until the rule is removed, Freeze stops a member
	// ("config" or a shard's name) until Thaw or Heal.
	Delay  time.Duration
	Hold   bool
	Freeze string
	// Do acts as another client; see [Other], [Move] and [Round]. The step waits for it no
	// longer than Patience (default 1 s): what it asks for may itself have to wait for
	// the operation that is held here. It is not cut short by that.
	Do       func(context.Context, *Cluster) error
	Patience time.Duration
	// Twice delivers the command a second time when the first has ended; the client gets
	// the second answer. At Received only.
	Twice bool
	// StepDown is a primary that steps down: the donor of a migration, which then answers
	// and recovers as recorded; at the steps of other commands it is the config server,
	// and the answer is 11602.
	StepDown bool
	// Err ends the operation at this step: what was before has happened, what comes after
	// does not. See [Fail] for the codes; labels go into its Extra as errorLabels.
	Err *ServerError
	// Cut closes the client's connection without an answer and ends the operation at this
	// step; but a migration that has started knows nothing of clients and goes on.
	Cut bool
	// GoOn lets the operation go on although its client got Err or was Cut: what failed was
	// a server between them.
	GoOn bool
}

// ServerError is an error as a server answers it.
type ServerError = status.Error

// Faults is where faults are planted in a cluster, and what it has seen. All methods
// are safe for concurrent use. Get it from [Cluster.Faults].
type Faults struct {
	cluster *Cluster
	armed   atomic.Int32 // rules and frozen members: zero is the fast path
	tapped  atomic.Int32 // taps

	mu     sync.Mutex
	rules  []*Planted
	last   int                      // id of the newest rule
	frozen map[string]chan struct{} // closed by the thaw
	terms  map[string]int64         // elections of each member
	hits   []Hit
	seen   []Seen
	number int // of commands so far
	taps   map[int]func(Seen)
	count  int // of taps so far
	trips  []*inflightCommand
}

// Planted is a rule in a cluster.
type Planted struct {
	id      int // counts up from 1
	rule    Rule
	faults  *Faults
	reached chan struct{} // closed when it first strikes
	gone    chan struct{} // closed by Remove
	// Guarded by Faults.mu:
	matched, struck int
	until           time.Time // of For
	removed         bool
}

// Hit is a fault that happened.
type Hit struct {
	At      time.Time // the cluster's time
	Command string
	Step    Step
	NS      string
	Rule    Rule
	// Done is closed when Do has returned, nil without Do; DoErr may be read after it.
	Done  <-chan struct{}
	DoErr func() error // waits for it
}

// Faults gives access to the faults of a cluster.
func (c *Cluster) Faults() *Faults { return c.faults }
