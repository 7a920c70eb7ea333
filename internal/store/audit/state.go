package audit

import (
	"errors"
	"fmt"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// State is what the keeper knows about the chain. It claims nothing that was not
// done: while At is zero, nothing has been verified.
type State struct {
	End   Point            // records up to here were read and follow each other
	At    time.Time        // when End was reached
	Whole time.Time        // every record up to End was read at this time or later
	Break *Break           // what is wrong; from then on no head is signed
	Err   error            // why the last check could not be finished; nil if it was
	Stage Stage            // what failed, when Err is set
	Fails int              // checks in a row that could not be finished
	Head  *store.AuditHead // newest signed head; nil before the first
	Key   string           // fingerprint of the key in use; "" when this process does not sign
	Other string           // fingerprint of the key that signed the newest head, when it was another
}

// Stage is the part of a check that failed.
type Stage string

// The codes that a Trouble has besides those of a Break.
const (
	StageRead    Stage = "unread"   // the records or heads could not be read
	StageWitness Stage = "witness"  // the witness file could not be read or written
	StageSign    Stage = "unsigned" // the records are in order, but the end could not be signed
	Damaged            = "damaged"  // a table or the file is missing or has another shape
)

// lasting is how many checks in a row must fail before that is a trouble: one can
// fail because the disk was busy for a moment.
const lasting = 2

// Trouble is why the record cannot be relied on now.
type Trouble struct {
	Code string
	Seq  int64  // the record it is about; 0 when it is about all
	Text string // a sentence; safe to show
}

// Trouble is nil when nothing is known to be wrong. A break, damage and the loss of
// the data directory count at once; other failures count when two checks in a row had them.
func (s State) Trouble() *Trouble {
	switch {
	case s.Break != nil:
		return &Trouble{s.Break.Code, s.Break.Seq, s.Break.Error()}
	case s.Err == nil:
		return nil
	case errors.Is(s.Err, store.ErrAuditDamaged):
		return &Trouble{Damaged, 0, fault.Text(s.Err)}
	case errors.Is(s.Err, store.ErrLost): // known at once, and not the record's own fault
		return &Trouble{string(StageRead), 0, fault.Text(s.Err)}
	case s.Fails < lasting:
		return nil
	case s.Stage == StageSign:
		return &Trouble{string(s.Stage), s.End.Seq, fmt.Sprintf("The audit record is in order up to record %d, but its end could not be signed in %d checks in a row. Until it is, records cut off after the last signed one may go unnoticed at the next start. The log has the cause.", s.End.Seq, s.Fails)}
	case s.Stage == StageWitness:
		return &Trouble{string(s.Stage), 0, "The witness file beside the audit key cannot be read or written, or is damaged. It shows at the next start whether the end of the record was cut off. The log names the file and the cause; move it away if it is damaged, and write down why."}
	}
	return &Trouble{string(StageRead), 0, fmt.Sprintf("The audit record could not be read in %d checks in a row, so it is not known whether it is in order. The log has the cause.", s.Fails)}
}
