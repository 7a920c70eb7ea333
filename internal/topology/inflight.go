package topology

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// InFlight is one migration under way: a range of a collection that one shard
// copies to another.
type InFlight struct {
	NS       Namespace
	Min, Max bson.Raw // [Min, Max), complete shard keys as documents; Max is nil where the cluster does not tell it
	From, To string   // donor and recipient, by name

	// Since is when it began. AtLeast: the cluster does not tell that, and Since
	// is when it was first seen.
	Since   time.Time
	AtLeast bool
	Wait    bool // it ends only when the donor has deleted the range (waitForDelete)

	// The last step that the donor and the recipient reported, of how many; 0 of
	// 0: none was seen. StepInferred: the donor has reported less, and the
	// recipient's step tells that it is as far as this.
	Step, Steps                   int
	StepInferred                  bool
	RecipientStep, RecipientSteps int

	By  MoveBy
	App string // By MoveByClient: the name that its program gave itself; may be empty
	// Relayed: the config server sent the donor's command, which does not tell who asked.
	Relayed bool

	// Copied is by how many documents the recipient's count grew since it was
	// first counted: writes of applications on that shard are in it, and what was
	// copied before is not.
	Copied Figure
	// Estimate is how many documents the range has, from averages.
	Estimate Figure
	Left     TimeLeft
}

// MoveBy is who asked for a migration.
type MoveBy string

// Who it can be. The zero value: not known.
const (
	MoveByBalancer MoveBy = "balancer"
	MoveByClient   MoveBy = "client"
)

// TimeLeft is an estimate of how long something still takes.
type TimeLeft struct {
	Known  bool
	For    time.Duration // more than zero
	Reason string        // catalogue code when !Known: "noRate", "beginUnseen", "beyondEstimate", "copied", or that of a figure
}

// Moves is what is known of the migrations under way.
type Moves struct {
	List []InFlight // in the order of Since
	// FromLog: the changelog was read for the list too, because the release does
	// not keep all migrations in one or that one may not be read.
	FromLog bool
	// ListPrivilege is what to grant for the list itself; empty when it was read.
	ListPrivilege string
	// StepsReason is why steps and who asked are not known: a figure's code; empty
	// when they were read. StepsPrivilege is what to grant for them.
	StepsReason, StepsPrivilege string
}

// PartMoves is the list of migrations under way.
const PartMoves Part = "moves"

// Migration is a migration under way as a list of them has it.
type Migration struct {
	NS       Namespace
	Min, Max bson.Raw
	From, To string
	Begun    time.Time // zero: not told
	Wait     bool
}

// MoveOperation is what a shard says it does for a migration. A migration has
// several: the donor's command, the donor's thread and the recipient's.
type MoveOperation struct {
	Shard string // that reports it
	// Step of Steps is the last step that it reported; 0 of 0: none.
	Step, Steps int
	// Command: it is the donor's command, and the rest is known.
	Command  bool
	NS       Namespace
	Min      bson.Raw // nil: not told
	From, To string
	App      string        // the program that asked; empty: the balancer, or a program without a name
	Relayed  bool          // the config server sent it, for the balancer or for a client, and does not tell for whom
	Running  time.Duration // 0: not told
}

// MoveSource is a Source that tells of migrations under way. Errors are as
// Source's; each method is one command.
type MoveSource interface {
	// Migrations reads the list of migrations that the config server keeps.
	// complete tells whether the release keeps all of them there.
	Migrations(ctx context.Context) (list []Migration, complete bool, err error)
	// MoveOperations asks all shards what they do for migrations.
	MoveOperations(ctx context.Context) ([]MoveOperation, error)
	// Counts gives the number of documents of a collection that the shards keep,
	// orphaned ones too. A mongos asks only shards that have a chunk of it.
	Counts(ctx context.Context, ns Namespace) (map[string]int64, error)
}

// is tells whether both are the same migration.
func (m Migration) is(o Migration) bool {
	return m.NS == o.NS && m.From == o.From && m.To == o.To && bytes.Equal(m.Min, o.Min)
}

// LoggedMoves are the migrations that changelog entries (newest first) tell the
// begin of and not the end, newest first. A shard takes part in one at a time,
// so a later entry of the same donor ends an older one whose end was never
// written.
func LoggedMoves(events []Event) []Migration {
	var out []Migration
	ended := map[string]bool{} // donors of which a later entry is known
	for _, e := range events {
		switch e.What {
		case "moveChunk.start", "moveChunk.commit", "moveChunk.error", "moveChunk.from":
		default:
			continue
		}
		m := Migration{NS: Namespace(e.NS), Begun: e.Time}
		m.From, _ = e.Details.Lookup("from").StringValueOK()
		if m.From == "" {
			m.From = e.Shard
		}
		if m.From == "" || ended[m.From] {
			continue
		}
		ended[m.From] = true
		if e.What != "moveChunk.start" {
			continue
		}
		m.To, _ = e.Details.Lookup("to").StringValueOK()
		m.Min, _ = e.Details.Lookup("min").DocumentOK()
		m.Max, _ = e.Details.Lookup("max").DocumentOK()
		if m.To != "" && m.To != m.From {
			out = append(out, m)
		}
	}
	return out
}

// MovingOf are the migrations of a collection.
func (t *Table) MovingOf(ns Namespace) []InFlight {
	return t.moving(func(m InFlight) bool { return m.NS == ns })
}

// MovingOn are the migrations that a shard takes part in, as donor or as recipient.
func (t *Table) MovingOn(shard string) []InFlight {
	return t.moving(func(m InFlight) bool { return m.From == shard || m.To == shard })
}

func (t *Table) moving(takes func(InFlight) bool) (out []InFlight) {
	for _, m := range t.Moves.List {
		if takes(m) {
			out = append(out, m)
		}
	}
	return out
}

// Positions are the chunks [from, to) of a collection that a migration moves or
// moves a part of; from = to when its bounds are not of this collection.
func (m InFlight) Positions(c *Collection) (from, to int) {
	if c == nil || c.NS != m.NS || c.Chunks.Len() == 0 {
		return 0, 0
	}
	lower, err := c.Key.Bound(m.Min)
	if err != nil {
		return 0, 0
	}
	upper, err := c.Key.Bound(m.Max)
	if err != nil || lower.Compare(upper) >= 0 {
		from, _ = c.Chunks.Find(lower)
		return from, from + 1
	}
	return c.Chunks.Overlap(shardkey.Range{Min: lower, Max: upper})
}

// Arrived tells whether the routing table has the whole range on the recipient:
// the migration is committed, and only cleaning up is left.
func (m InFlight) Arrived(t *Table) bool {
	c := t.Collection(m.NS)
	from, to := m.Positions(c)
	for i := from; i < to; i++ {
		if c.Chunks.Owner(i) != m.To {
			return false
		}
	}
	return from < to
}

// equal tells whether two lists look the same to people: times of reads aside.
func (m Moves) equal(o Moves) bool {
	return m.FromLog == o.FromLog && m.ListPrivilege == o.ListPrivilege && m.StepsReason == o.StepsReason &&
		m.StepsPrivilege == o.StepsPrivilege &&
		slices.EqualFunc(m.List, o.List, InFlight.equal)
}

func (m InFlight) equal(o InFlight) bool {
	same := func(a, b Figure) bool { a.At, b.At = time.Time{}, time.Time{}; return a == b }
	return m.NS == o.NS && bytes.Equal(m.Min, o.Min) && bytes.Equal(m.Max, o.Max) && m.From == o.From && m.To == o.To &&
		m.Since.Equal(o.Since) && m.AtLeast == o.AtLeast && m.Wait == o.Wait &&
		m.Step == o.Step && m.Steps == o.Steps && m.StepInferred == o.StepInferred && m.RecipientStep == o.RecipientStep &&
		m.RecipientSteps == o.RecipientSteps &&
		m.By == o.By && m.App == o.App && same(m.Copied, o.Copied) && same(m.Estimate, o.Estimate) && m.Left == o.Left
}
