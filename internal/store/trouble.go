package store

import (
	"errors"
	"time"

	"shardboard/internal/fault"
)

// TroubleCode names a kind of trouble, for metrics, tests and texts.
type TroubleCode string

// What can keep the data from being used.
const (
	TroubleDamaged  TroubleCode = "damaged"  // the file is not as the database writes it
	TroubleForeign  TroubleCode = "foreign"  // the file is another program's
	TroubleSchema   TroubleCode = "schema"   // a table or column is missing
	TroubleFull     TroubleCode = "full"     // no space left
	TroubleQuota    TroubleCode = "quota"    // space is left, but not for this user
	TroubleReadOnly TroubleCode = "readOnly" // the file system takes no writes
	TroubleDenied   TroubleCode = "denied"   // the permissions of the files forbid it
	TroubleFiles    TroubleCode = "files"    // too many open files
	TroubleBusy     TroubleCode = "busy"     // another program holds a lock
	TroubleGone     TroubleCode = "gone"     // the file is not there any more
	TroubleMemory   TroubleCode = "memory"   // no memory left
	TroubleDevice   TroubleCode = "device"   // the disk itself fails
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
}

// Trouble is what keeps the data from being used. It says so to people: the cause
// names the file, the remedy is what to do. Neither has a technical cause, which is
// for the log.
type Trouble struct {
	Code   TroubleCode
	Cause  string // one sentence
	Remedy string // one sentence or more
	Since  time.Time
}

// Title heads every failure that comes from this trouble.
func (t Trouble) Title() string {
	if title, ok := troubleTitles[t.Code]; ok {
		return title
	}
	return "The data of shardboard cannot be used"
}

// Text is cause and remedy.
func (t Trouble) Text() string { return t.Cause + " " + t.Remedy }

// Lasting tells whether the trouble stays until somebody repairs the file and
// restarts shardboard. All others end when a write succeeds.
func (t Trouble) Lasting() bool {
	return t.Code == TroubleDamaged || t.Code == TroubleForeign || t.Code == TroubleSchema
}

// TroubleError is the failure of one call because of a trouble.
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

// Unwrap gives errors.Is and errors.As the technical cause.
func (e *TroubleError) Unwrap() error { return e.Err }

// Brief is for those who are not told where our files are.
func (t Trouble) Brief() string {
	return t.Title() + ". The log of the server says which file it is and what to do."
}

// Failed makes the failure of a call: Unavailable, under the trouble's title.
func (t Trouble) Failed(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Title: t.Title(), Text: t.Text(), Brief: t.Brief(), Err: &TroubleError{Trouble: t, Err: err}}
}

// TroubleOf gives the trouble that an error comes from.
func TroubleOf(err error) (Trouble, bool) {
	var e *TroubleError
	if !errors.As(err, &e) {
		return Trouble{}, false
	}
	return e.Trouble, true
}

// UnreadableRows is how many rows of a table cannot be read. Lists are without them.
type UnreadableRows struct {
	Table string
	Rows  int
}
