package store

import (
	"errors"
	"time"

	"shardboard/internal/fault"
)

// Hold says what this process may do with the data directory.
type Hold string

const (
	Owned          Hold = "owned"          // this process owns it and writes
	OwnedByAnother Hold = "ownedByAnother" // another process owns it; this one reads
	OwnerGone      Hold = "ownerGone"      // that process has ended; this one reads, and may take over
	Vanished       Hold = "vanished"       // the files that are open are no longer at the directory's path
	Unreadable     Hold = "unreadable"     // the path cannot be looked at, so nobody knows
)

// Holds are all of them, in the order in which metrics list them.
func Holds() []Hold { return []Hold{Owned, OwnedByAnother, OwnerGone, Vanished, Unreadable} }

// Condition is how the data directory was when it was last looked at.
type Condition struct {
	Hold  Hold
	Since time.Time
	Err   error // why nothing can be written, in words for people; nil while this process may
}

// Lost tells that what is written now would not be found by the next process.
func (c Condition) Lost() bool { return c.Hold == Vanished || c.Hold == Unreadable }

// ErrLost is in the chain of every error that says the data directory is lost.
var ErrLost = errors.New("the data directory is lost")

// ErrOwnerGone is what a method that writes gives in a process that only reads
// after the owner has ended.
var ErrOwnerGone = fault.New(fault.Unavailable,
	"The shardboard that owned this data directory has stopped, and this one only reads. An admin can let this one take over; or start the other one again.")
