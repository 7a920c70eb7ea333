package store

import (
	"errors"
	"time"

	"shardboard/internal/fault"
)

// TroubleCode is a kind of problem with the data, for metrics, tests and texts.
type TroubleCode string

// The problems that keep the data from being used.
const (
	TroubleDamaged  TroubleCode = "damaged"  // the file is not as SQLite wrote it
	TroubleForeign  TroubleCode = "foreign"  // the file belongs to another program
	TroubleSchema   TroubleCode = "schema"   // a table or column is missing
	TroubleFull     TroubleCode = "full"     // no space left
	TroubleQuota    TroubleCode = "quota"    // space is left, but not for this user's quota
	TroubleReadOnly TroubleCode = "readOnly" // the file system is read-only
	TroubleDenied   TroubleCode = "denied"   // the permissions of the files forbid it
	TroubleFiles    TroubleCode = "files"    // too many open files
	TroubleBusy     TroubleCode = "busy"     // another program holds a lock
	TroubleGone     TroubleCode = "gone"     // the file no longer exists
	TroubleMemory   TroubleCode = "memory"   // no memory left
	TroubleDevice   TroubleCode = "device"   // the disk reports errors

	TroubleUnreachable TroubleCode = "unreachable" // the database server does not answer
	TroubleRights      TroubleCode = "rights"      // the user of the database may not do this
)

var troubleTitles = map[TroubleCode]string{
	TroubleDamaged:  "The database of shardboard is damaged",
	TroubleForeign:  "The database is not shardboard's",
	TroubleSchema:   "The database of shardboard is incomplete",
	TroubleFull:     "The disk of shardboard's data is full",
	TroubleQuota:    "The disk quota of shardboard's data is used up",
	TroubleReadOnly: "The disk of shardboard's data cannot be written",
	TroubleDenied:   "shardboard may not use its data directory",
	TroubleFiles:    "shardboard has too many open files",
	TroubleBusy:     "The database of shardboard is locked by another program",
	TroubleGone:     "The database of shardboard is gone",
	TroubleMemory:   "shardboard has no memory left for its database",
	TroubleDevice:   "The disk of shardboard's data reports errors",

	TroubleUnreachable: "The store of shardboard does not answer",
	TroubleRights:      "shardboard may not use its store",
}

// Trouble is a problem that keeps the data from being used, with sentences for people: the cause
// names the file, the remedy says what to do. The technical cause is only for the log.
type Trouble struct {
	Code   TroubleCode
	Cause  string // one sentence
	Remedy string // one sentence or more
	Since  time.Time
}

// Title is the title of every failure with this cause.
func (t Trouble) Title() string {
	if title, ok := troubleTitles[t.Code]; ok {
		return title
	}
	return "The data of shardboard cannot be used"
}

// Text is cause and remedy.
func (t Trouble) Text() string { return t.Cause + " " + t.Remedy }

// Lasting reports whether the problem stays until somebody repairs the file and restarts
// shardboard. All others end when a write succeeds.
func (t Trouble) Lasting() bool {
	return t.Code == TroubleDamaged || t.Code == TroubleForeign || t.Code == TroubleSchema
}

// TroubleError is the failure of one call because of a Trouble.
type TroubleError struct {
	Trouble
	Err error // the technical cause
}

func (e *TroubleError) Error() string {
	if e.Err == nil {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Err.Error()
}

// Unwrap returns the technical cause.
func (e *TroubleError) Unwrap() error { return e.Err }

// Brief is the text for people who may not see file names.
func (t Trouble) Brief() string {
	return t.Title() + ". The log of the server says which file it is and what to do."
}

// Failed makes the error of a call: Unavailable, with the trouble's title and text.
func (t Trouble) Failed(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Title: t.Title(), Text: t.Text(), Brief: t.Brief(), Err: &TroubleError{Trouble: t, Err: err}}
}

// TroubleOf returns the Trouble that caused an error.
func TroubleOf(err error) (Trouble, bool) {
	var e *TroubleError
	if !errors.As(err, &e) {
		return Trouble{}, false
	}
	return e.Trouble, true
}

// UnreadableRows is the number of unreadable rows of a table; lists omit them.
type UnreadableRows struct {
	Table string
	Rows  int
}
