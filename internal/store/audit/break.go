package audit

import (
	"fmt"
	"time"
)

// Codes of a Break.
const (
	Misplaced = "misplaced" // another record is at this place: one was deleted, moved or inserted
	Unlinked  = "unlinked"  // the record does not follow the one before it
	Changed   = "changed"   // the record was edited after it was written
	Cut       = "cut"       // the chain ends before a record that it once had
	Rebuilt   = "rebuilt"   // the chain has another record at a place that is known
	Foreign   = "foreign"   // a record that this process, the only writer, did not write
	Forged    = "forged"    // a head's signature is invalid
	OtherKey  = "otherKey"  // a head is signed by a key that is not trusted
	HeadLost  = "headLost"  // a signed head is no longer in the store
)

// Break is the first inconsistency found in a chain.
type Break struct {
	Code    string
	Seq     int64     // number of the record where it shows
	Found   int64     // Misplaced: the number of the record found there; Cut: the last record
	At      time.Time // when the head was signed, if a head shows the break
	Key     string    // OtherKey: the fingerprint of the head's key
	Witness bool      // the head is that of the witness file
}

// Error is a sentence for the command line.
func (b *Break) Error() string {
	switch b.Code {
	case Misplaced:
		return fmt.Sprintf("record %d follows where record %d belongs: a record was deleted, moved or inserted", b.Found, b.Seq)
	case Unlinked:
		return fmt.Sprintf("record %d does not link to the one before it", b.Seq)
	case Changed:
		return fmt.Sprintf("record %d was edited after it was written", b.Seq)
	case Cut:
		return fmt.Sprintf("the records end at %d, but there was a record %d%s: the last records were deleted", b.Found, b.Seq, b.signed())
	case Rebuilt:
		return fmt.Sprintf("record %d is not the one that was there%s: the records were rewritten", b.Seq, b.signed())
	case Foreign:
		return fmt.Sprintf("record %d was inserted by another program: the only process that may write records did not write it", b.Seq)
	case Forged:
		return fmt.Sprintf("the signature of the head at record %d%s is invalid", b.Seq, b.where())
	case OtherKey:
		return fmt.Sprintf("the head at record %d%s is signed by another key, %s", b.Seq, b.where(), b.Key)
	case HeadLost:
		return fmt.Sprintf(
			"the head that was signed at record %d (%s) is no longer in the data: signed heads were deleted or changed",
			b.Seq, b.At.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("record %d is wrong (%s)", b.Seq, b.Code)
}

// signed adds when the head that shows the earlier state was signed.
func (b *Break) signed() string {
	if b.At.IsZero() {
		return ""
	}
	return " when a head was signed at " + b.At.UTC().Format(time.RFC3339) + b.where()
}

func (b *Break) where() string {
	if b.Witness {
		return " (in the witness file)"
	}
	return ""
}
