package store

import (
	"errors"
	"time"

	"shardboard/internal/fault"
)

// Hold is what this process may do with the data directory, or with a store on MongoDB.
type Hold string

const (
	Owned          Hold = "owned"          // this process owns it, or shares it with others, and writes
	OwnedByAnother Hold = "ownedByAnother" // another process owns it; this one reads
	OwnerGone      Hold = "ownerGone"      // the owner has ended; this process reads and may take over
	Vanished       Hold = "vanished"       // the open files are no longer at the directory's path
	Unreadable     Hold = "unreadable"     // the path cannot be examined, so its state is unknown
	Unreachable    Hold = "unreachable"    // a store on MongoDB does not answer
)

// Holds returns all values, in the order of metrics.
func Holds() []Hold {
	return []Hold{Owned, OwnedByAnother, OwnerGone, Vanished, Unreadable, Unreachable}
}

// Condition is the state of the data directory or the store at the last check.
type Condition struct {
	Hold  Hold
	Since time.Time
	Err   error // why nothing can be written, as a sentence for people; nil while this process may write
}

// Lost reports whether nothing can be stored now that the next process would find.
func (c Condition) Lost() bool {
	return c.Hold == Vanished || c.Hold == Unreadable || c.Hold == Unreachable
}

// ErrLost is in the chain of every error caused by a lost data directory.
var ErrLost = errors.New("the data directory is lost")

// ErrOwnerGone is returned by methods that write in a read-only process whose owner has ended.
var ErrOwnerGone = fault.New(fault.Unavailable,
	"The shardboard that owned this data directory has stopped, and this one only reads. An admin can let this one take over; or start "+
		"the other one again.")
