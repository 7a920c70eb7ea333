package audit

import (
	"errors"
	"fmt"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// State is what the keeper knows about the chain. While At is zero, nothing has been verified.
type State struct {
	End   Point            // the chain is verified up to here
	At    time.Time        // when End was verified
	Whole time.Time        // every record up to End was verified at this time or later
	Break *Break           // the inconsistency; no head is signed from then on
	Err   error            // why the last check failed; nil if it did not
	Stage Stage            // the step that failed, when Err is set
	Fails int              // consecutive failed checks
	Head  *store.AuditHead // newest signed head; nil before the first
	Key   string           // fingerprint of the key in use; "" when this process does not sign
	Other string           // fingerprint of the key of the newest head, if it is another key
}

// Stage is the part of a check that failed.
type Stage string

// Codes of a Trouble besides those of a Break.
const (
	StageRead    Stage = "unread"   // the records or heads could not be read
	StageWitness Stage = "witness"  // the witness file could not be read or written
	StageSign    Stage = "unsigned" // the chain is intact, but its end could not be signed
	Damaged            = "damaged"  // a table or the file is missing or has another shape
)

// failuresUntilTrouble is how many consecutive checks must fail before it is a Trouble: a single one can fail
// because the disk was busy.
const failuresUntilTrouble = 2

// Trouble is why the record cannot be relied on now.
type Trouble struct {
	Code string
	Seq  int64  // record number; 0 for the whole record
	Text string // a sentence; safe to show
}

// Trouble returns nil when no problem is known. A break, damage and a lost data directory count at
// once; other failures after two consecutive checks.
func (s State) Trouble() *Trouble {
	switch {
	case s.Break != nil:
		return &Trouble{s.Break.Code, s.Break.Seq, s.Break.Error()}
	case s.Err == nil:
		return nil
	case errors.Is(s.Err, store.ErrAuditDamaged):
		return &Trouble{Damaged, 0, fault.Text(s.Err)}
	case errors.Is(s.Err, store.ErrLost): // known at once, and not a fault of the record
		return &Trouble{string(StageRead), 0, fault.Text(s.Err)}
	case s.Fails < failuresUntilTrouble:
		return nil
	case s.Stage == StageSign:
		return &Trouble{
			string(s.Stage),
			s.End.Seq,
			fmt.Sprintf(
				"The audit record is in order up to record %d, but its end could not be signed in %d consecutive checks. Until it is, records "+
					"cut off after the last signed one may go unnoticed at the next start. The log has the cause.",
				s.End.Seq,
				s.Fails,
			),
		}
	case s.Stage == StageWitness:
		return &Trouble{
			string(s.Stage),
			0,
			"The witness file beside the audit key cannot be read or written, or is damaged. It shows at the next start whether the end of " +
				"the record was cut off. The log names the file and the cause; move it away if it is damaged, and write down why.",
		}
	}
	return &Trouble{
		string(StageRead),
		0,
		fmt.Sprintf(
			"The audit record could not be read in %d consecutive checks, so it is not known whether it is in order. The log has the cause.",
			s.Fails,
		),
	}
}
