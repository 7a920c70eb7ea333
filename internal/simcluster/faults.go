package simcluster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/status"
)

// Step is a step of a command or a migration at which faults can be injected.
type Step = catalog.Step

// The steps, in the order in which an operation passes them. [FaultPoints] lists the
// steps of each operation.
const (
	Received   = catalog.Received   // arrived, nothing done
	Targeted   = catalog.Targeted   // migration: source and target are known, nothing done
	Started    = catalog.Started    // migration: moveChunk.start is logged
	Cloning    = catalog.Cloning    // migration: the recipient is about to copy
	Cloned     = catalog.Cloned     // migration: the copy is made (the donor's step 3)
	CaughtUp   = catalog.CaughtUp   // migration: what changed meanwhile is copied (step 4)
	Critical   = catalog.Critical   // migration: the critical section begins (step 5)
	Committing = catalog.Committing // checked; the config server is about to change
	Committed  = catalog.Committed  // it has changed, config.changelog does not say so yet
	Logged     = catalog.Logged     // migration: the commit is logged
	Cleaning   = catalog.Cleaning   // migration: the donor's copy is about to be deleted
	Replying   = catalog.Replying   // done, not answered yet
)

// Rule describes a fault: where it happens (command, step, namespace, which occurrence)
// and what happens (a delay, another client's command, an error, a cut connection). A
// split that is done but whose answer never arrives:
//
//	cluster.Faults().Add(Rule{Command: "split", At: Replying, Cut: true})
//
// A donor that steps down before the config server commits, with a pause for the test
// to look at the cluster:
//
//	rule := cluster.Faults().Add(Rule{Command: "moveChunk", At: Committing, NS: "app.c", Hold: true, StepDown: true})
//	go admin.RunCommand(ctx, move)
//	<-rule.Reached() // the migration waits there
//	rule.Remove()    // now the donor steps down
//
// A second client's command between check and commit, and a check that the first client
// sent its command once:
//
//	cluster.Faults().Add(Rule{Command: "mergeChunks", At: Committing, Do: Other("admin", split)})
//	admin.RunCommand(ctx, merge)
//	if n := len(cluster.Faults().Seen("mergeChunks")); n != 1 { … }
//
// A command that takes effect long after its client has given up:
//
//	cluster.Faults().Add(Rule{Command: "split", At: Received, Cut: true, GoOn: true})
//	cluster.Faults().Add(Rule{Command: "split", At: Committing, Delay: time.Minute})
//
// Rules apply to commands that arrive over connections and to migrations of the
// balancer, not to [Cluster.Command]. If several match, all of them happen in the order
// in which they were added, and the first error wins. Waits use package time, so they
// work in a testing/synctest bubble. There is no randomness: the same rules and
// commands give the same faults.
type Rule struct {
	// Command is the command's name; "move" means every chunk migration, "balancer" only
	// those of the balancer; empty means every command except handshakes. An empty NS
	// matches any namespace. Match, if set, must accept the command's document, which is
	// nil for migrations of the balancer.
	Command string
	At      Step
	NS      string
	Match   func(command bson.Raw) bool

	// The rule starts with the Nth matching occurrence (0 and 1 are the first) and applies
	// Times times (0 means once, negative without limit) or, if For is set, to all
	// occurrences within that time after the first.
	Nth, Times int
	For        time.Duration

	// The effects, in this order. Hold waits until the rule is removed. Freeze stops a
	// member ("config" or a shard's name) until Thaw or Heal.
	Delay  time.Duration
	Hold   bool
	Freeze string
	// Do acts as another client; see [Other], [Move] and [Round]. The step waits for Do at
	// most Patience (default 1 s), because Do may itself wait for the operation that is
	// held here. Do continues after that.
	Do       func(context.Context, *Cluster) error
	Patience time.Duration
	// Twice runs the command a second time after the first has ended; the client gets the
	// second answer. Only at Received.
	Twice bool
	// StepDown makes a primary step down. For a migration it is the donor's primary, which
	// answers and recovers as recorded. For other commands it is the config server's
	// primary, and the answer is error 11602.
	StepDown bool
	// Err ends the operation at this step: earlier effects stay, later steps do not run.
	// See [Fail] for the codes; put labels into Extra as errorLabels.
	Err *ServerError
	// Cut closes the client's connection without an answer and ends the operation at this
	// step. A migration that has started goes on, because it does not depend on its
	// client.
	Cut bool
	// GoOn lets the operation continue after its client got Err or was Cut, as if a server
	// between them had failed.
	GoOn bool
}

// ServerError is an error reply of the server.
type ServerError = status.Error

// Faults holds the fault rules of a cluster and records the commands that arrive. Safe
// for concurrent use. Get it from [Cluster.Faults].
type Faults struct {
	cluster *Cluster
	armed   atomic.Int32 // number of rules and frozen members; 0 skips all checks

	mu     sync.Mutex
	rules  []*Planted
	last   int                      // id of the newest rule
	frozen map[string]chan struct{} // closed by Thaw
	used   map[string]chan struct{} // by member: the freeze in which a command waits on the only open connection
	terms  map[string]int64         // elections of each member
	hits   []Hit
	seen   []Seen
	number int                // of commands so far
	trips  []*inflightCommand // running commands that change the cluster: $currentOp shows them, as on mongos
}

// Planted is a rule that was added to a cluster.
type Planted struct {
	id      int // counts up from 1
	rule    Rule
	faults  *Faults
	reached chan struct{} // closed when the rule first applies
	gone    chan struct{} // closed by Remove
	// Guarded by Faults.mu:
	matched, struck int
	until           time.Time // of For
	removed         bool
}

// Hit records a fault that happened.
type Hit struct {
	At      time.Time // the cluster's time
	Command string
	Step    Step
	NS      string
	Rule    Rule
	// Done is closed when Do has returned; nil without Do. Call DoErr after it.
	Done  <-chan struct{}
	DoErr func() error // waits for it
}

// Faults returns the cluster's fault injection.
func (c *Cluster) Faults() *Faults { return c.faults }

// defaultPatience is how long a step waits for Rule.Do by default: longer than a small migration
// or a round of the balancer takes.
const defaultPatience = time.Second

// Add adds a rule.
func (f *Faults) Add(r Rule) *Planted {
	r.Patience = cmp.Or(r.Patience, defaultPatience)
	p := &Planted{rule: r, faults: f, reached: make(chan struct{}), gone: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	p.id = f.last
	f.rules = append(f.rules, p)
	f.armed.Add(1)
	return p
}

// Remove removes the rule. Operations that it holds continue with the rule's other
// effects. Removing again does nothing.
func (p *Planted) Remove() {
	f := p.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.removed {
		return
	}
	p.removed = true
	close(p.gone)
	f.rules = slices.DeleteFunc(f.rules, func(o *Planted) bool { return o == p })
	f.armed.Add(-1)
}

// Reached is closed when the rule has applied for the first time.
func (p *Planted) Reached() <-chan struct{} { return p.reached }

// Struck is how often the rule has applied.
func (p *Planted) Struck() int {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.struck
}

// Heal removes all rules and thaws all members.
func (f *Faults) Heal() {
	f.mu.Lock()
	rules := slices.Clone(f.rules)
	f.mu.Unlock()
	for _, p := range rules {
		p.Remove()
	}
	for _, name := range f.Frozen() {
		f.Thaw(name)
	}
}

// Hits lists the newest 20,000 faults that happened, in order.
func (f *Faults) Hits() []Hit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.hits)
}

// matching lists the rules that apply to this occurrence.
func (f *Faults) matching(p catalog.Point, body bson.Raw) []*Planted {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Planted
	for _, r := range f.rules {
		if r.matches(p, body) && r.due(f.cluster.catalog.Now()) {
			out = append(out, r)
		}
	}
	return out
}

func (p *Planted) matches(at catalog.Point, body bson.Raw) bool {
	r := &p.rule
	if r.At != at.Step || r.NS != "" && r.NS != at.NS {
		return false
	}
	if r.Match != nil && (body == nil || !r.Match(body)) {
		return false
	}
	switch r.Command {
	case "", at.Command:
		return true
	case "move":
		return at.Command == "moveChunk" || at.Command == "moveRange" || at.Command == "balancer"
	}
	return false
}

// due counts an occurrence and reports whether the rule applies to it. The caller holds
// Faults.mu.
func (p *Planted) due(now time.Time) bool {
	r := &p.rule
	if p.matched++; p.matched < r.Nth {
		return false
	}
	switch {
	case r.For > 0 && p.struck == 0:
		p.until = now.Add(r.For)
	case r.For > 0 && now.After(p.until):
		return false
	case r.For == 0 && r.Times >= 0 && p.struck >= max(r.Times, 1):
		return false
	}
	if p.struck++; p.struck == 1 {
		close(p.reached)
	}
	return true
}

// FaultPoint is one step of one operation.
type FaultPoint struct {
	Command string
	At      Step
	// Done means that the effect has already happened at this step: a client must not take
	// an error here for "nothing changed".
	Done bool
}

// FaultPoints lists the operations that change a cluster's layout with their steps, in
// order. Every other command has only Received and Replying.
func FaultPoints() []FaultPoint {
	var out []FaultPoint
	add := func(command string, steps ...Step) {
		for _, s := range steps {
			done := s == Committed || s == Logged || s == Cleaning || s == Replying
			out = append(out, FaultPoint{command, s, done})
		}
	}
	add("split", Received, Committing, Committed, Replying)
	add("mergeChunks", Received, Committing, Committed, Replying)
	for _, move := range []string{"moveChunk", "moveRange"} {
		add(move, Received, Targeted, Started, Cloning, Cloned, CaughtUp, Critical, Committing, Committed, Logged, Cleaning, Replying)
	}
	add("movePrimary", Received, Cloning, Committing, Committed, Replying)
	for _, whole := range []string{"moveCollection", "unshardCollection"} {
		add(whole, Received, Cloning, Replying)
	}
	add("balancerStart", Received, Replying)
	add("balancerStop", Received, Committed, Replying)
	for _, other := range []string{
		"addShardToZone", "removeShardFromZone", "updateZoneKeyRange", "clearJumboFlag", "refineCollectionShardKey",
		"configureCollectionBalancing", "setAllowMigrations", "update",
		"removeShard", "startShardDraining", "stopShardDraining", "commitShardRemoval",
	} {
		add(other, Received, Replying)
	}
	return out
}

// Fail is the server's error for a code, with the recorded message if there is one. Set
// Message for other codes.
func Fail(code int32) *ServerError {
	return status.Errorf(code, "%s", cmp.Or(failTexts[code], "operation failed"))
}

var failTexts = map[int32]string{
	status.NotWritablePrimary:                "not primary",
	status.InterruptedByStepDown:             "operation was interrupted",
	189:                                      "Primary stepped down while waiting for replication", // PrimarySteppedDown
	status.StaleConfig:                       "version mismatch detected",
	status.StaleEpoch:                        "epoch mismatch detected",
	status.ConflictingOperationInProgress:    "Collection is undergoing changes so moveChunk is not allowed.",
	status.LockBusy:                          "timed out waiting for the lock",
	status.BalancerInterrupted:               "balancer was interrupted",
	status.ChunkRangeCleanupPending:          "the range is still waiting for its clean-up",
	status.ShardNotFound:                     "moveChunk destination shard does not exist",
	status.MaxTimeMSExpired:                  "operation exceeded time limit",
	status.NetworkInterfaceExceededTimeLimit: "operation exceeded time limit",
	status.OperationFailed: "moveChunk command failed on source shard. :: caused by :: InterruptedDueToReplStateChange: " +
		"operation was interrupted",
	status.ChunkTooBig: "Cannot move chunk: the maximum number of documents for a chunk is 2250, the maximum chunk size is 1048576, " +
		"average document size is 931. Found 2706 documents in chunk",
}
