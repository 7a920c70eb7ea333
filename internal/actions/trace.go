package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Trace is what the cluster shows of a command that was sent and whose answer
// did not come.
type Trace struct {
	Running bool             // an operation that may be it is at work
	Ended   bool             // its end is logged, whatever it was
	Step    int              // of a migration at work: where the donor is, of Steps; 0: not known
	Steps   int              //
	Events  []topology.Event // of the changelog, about its bounds since it was sent; oldest first
}

// Migrates tells whether the step moves data between shards: then a shard takes
// part in one at a time, and a time limit does not stop it.
func (s Step) Migrates() bool { return s.Op == OpMove || s.Op == OpMoveRange }

// Sends tells whether the step is a command at all.
func (s Step) Sends() bool { return s.Op != OpAwait }

// Invertible tells whether some command takes the step back. None sets a jumbo
// flag, and a window that was not known before cannot be set again.
func (s Step) Invertible() bool {
	switch s.Op {
	case OpClearJumbo:
		return false
	case OpBalancerWindow:
		return slices.ContainsFunc(s.Needs, func(f Fact) bool {
			_, known := f.Want["windowStart"]
			return f.Kind == FactBalancer && known
		})
	}
	return true
}

// Renderer gives the command of a step exactly as Admin will send it.
type Renderer interface {
	Render(s Step) (Command, error)
}

// Equal tells whether both are the same command, byte by byte.
func (c Command) Equal(o Command) bool { return c.DB == o.DB && bytesEqual(c.Doc, o.Doc) }

func bytesEqual(a, b bson.Raw) bool { return string(a) == string(b) }
