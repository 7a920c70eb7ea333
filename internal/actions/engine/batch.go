package engine

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Batch is how far a batch is. It is small, because it is saved after every item: what the
// items are stands in the plan, and what became of them in their own runs. Immutable.
type Batch struct {
	Items   int
	Groups  int
	Group   int // that runs, from 1
	Checked int // groups after which the cluster's health was checked
	Done    int // items that succeeded or had nothing left to do
	Skipped int

	Open     []OpenItem  // that run now, in the order in which they began
	Problems []ItemTrial // items that failed: tried again, waiting for a person, or skipped

	Hold  *Hold           // why it is paused; nil: it goes on
	Next  time.Time       // when the next item may begin, because of the limits per hour
	Waits message.Message // what the next item waits for; else empty
	Busy  time.Duration   // how long it has run without the pauses, until Since
	Since time.Time       // since when it runs; zero while it is paused
	Plan  topology.Figure // milliseconds that the plan estimated
	Moved topology.Figure // bytes of the items that are done, as estimated
	Base  []GateLatency   `json:",omitempty"` // before the first item
	Gates []Gate          // the latest, oldest first
	Rows  GroupRows       `json:"Compared"` // of the items of the group that ended last
}

// OpenItem is an item that runs now.
type OpenItem struct {
	Item int    // its number
	Run  string // id
}

// ItemTrial is an item that failed.
type ItemTrial struct {
	Item  int
	Run   string // the last run; "" when it was refused before there was one
	Tries int
	State TrialState
	Why   message.Message
}

// TrialState says what happens to an item that failed.
type TrialState string

// The states of an item that failed.
const (
	TrialRetry TrialState = "retry" // is tried again
	TrialWaits TrialState = "waits" // for a person, who retries or skips it
	TrialSkip  TrialState = "skipped"
)

// Hold is why a batch is paused.
type Hold struct {
	Code   string // HoldPerson, HoldItem, HoldGate
	Group  int    `json:",omitempty"` // of HoldGate: that was checked
	By     string // principal; "": the batch itself
	ByName string // untrusted text
	At     time.Time
	Why    message.Message
}

// The reasons to pause a batch.
const (
	HoldPerson = "person"
	HoldItem   = "item" // an item failed twice
	HoldGate   = "health"
)

// gatesKept is how many results of the health checks a run keeps.
const gatesKept = 5

// IsBatch reports whether the run is a batch.
func (r Run) IsBatch() bool { return r.Batch != nil }

// didAll reports whether every step of an ended run had its effect. A run that was stopped
// during its last command did all that it had to.
func (r Run) didAll() bool {
	return r.State == Succeeded || r.State == Stopped && len(r.Steps) > 0 && !slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.State != Succeeded && s.State != Deferred && s.State != Replaced
	})
}

// Left is how many items are neither done nor skipped.
func (b Batch) Left() int { return b.Items - b.Done - b.Skipped }

// TimeLeft estimates how long the rest takes: as long for each item as for those that are
// done, or as planned while none is. ok is false if it is not known.
func (b Batch) TimeLeft(now time.Time) (left time.Duration, ok bool) {
	if b.Left() <= 0 {
		return 0, false
	}
	wait := max(0, b.Next.Sub(now))
	if b.Done == 0 {
		return max(wait, time.Duration(b.Plan.Value)*time.Millisecond), b.Plan.Known
	}
	busy := b.Busy
	if !b.Since.IsZero() {
		busy += max(0, now.Sub(b.Since))
	}
	return max(wait, busy/time.Duration(b.Done)*time.Duration(b.Left())), true
}

// trial is the item's entry among the problems; its index, or -1.
func (b Batch) trial(item int) int {
	return slices.IndexFunc(b.Problems, func(t ItemTrial) bool { return t.Item == item })
}

// Waiting are the numbers of the items that wait for a person.
func (b Batch) Waiting() (items []int) {
	for _, t := range b.Problems {
		if t.State == TrialWaits {
			items = append(items, t.Item)
		}
	}
	return items
}

// withBatch changes the batch of a run.
func withBatch(change func(*Batch)) func(*Run) {
	return func(r *Run) {
		b := *r.Batch
		b.Open, b.Problems, b.Gates = slices.Clone(b.Open), slices.Clone(b.Problems), slices.Clone(b.Gates)
		change(&b)
		r.Batch = &b
	}
}

// pause stops the clock of the batch.
func (b *Batch) pause(h Hold) {
	b.Hold, b.Waits = &h, message.Message{}
	if !b.Since.IsZero() {
		b.Busy, b.Since = b.Busy+max(0, h.At.Sub(b.Since)), time.Time{}
	}
}

// newBatch is the state of a batch before its first item; nil for a plan of another kind.
func newBatch(p actions.Plan, now time.Time) *Batch {
	if p.Kind != actions.Batch {
		return nil
	}
	items := planItems(p)
	b := &Batch{Items: len(items), Plan: p.Effect.Duration, Since: now}
	for _, x := range items {
		b.Groups = max(b.Groups, x.Group)
	}
	return b
}

// planItems are the items of a plan.
func planItems(p actions.Plan) (out []*operation.Item) {
	for _, s := range p.Steps {
		if s.Item != nil {
			out = append(out, s.Item)
		}
	}
	return out
}

// hashItems sets the hash of each item.
func hashItems(r balance.Release, steps []operation.Step) error {
	for i, s := range steps {
		if s.Item == nil || len(s.Item.Steps) == 0 {
			continue
		}
		commands, err := commandsOf(r, s.Item.Steps)
		if err != nil {
			return err
		}
		x := *s.Item
		if x.Hash, err = planHash(x.Steps, commands); err != nil {
			return err
		}
		steps[i].Item = &x
	}
	return nil
}
