package sqlite

import (
	"errors"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// auditFailure says why the audit tables cannot be used. A table that is missing
// or has another shape is told apart from a disk that is full or busy: the first
// does not get better by waiting, and somebody made it so.
func auditFailure(err error) error {
	if err == nil {
		return nil
	}
	if t, ok := store.TroubleOf(err); ok && (t.Code == store.TroubleDamaged || t.Code == store.TroubleSchema) {
		return damaged(err) // in words already, with the remedy
	}
	text := err.Error()
	for _, table := range [...]string{"audit_heads", "audit"} {
		if strings.Contains(text, "table "+table+" has") || strings.Contains(text, "cannot modify "+table) {
			return fault.Wrap(fault.Unavailable, damaged(err), "The table %s of the audit record was replaced or has other columns than this program made. What has to be recorded cannot be done until it is as it was: restore the data directory from a backup.", table)
		}
	}
	if strings.Contains(text, "no such column") || strings.Contains(text, "Scan error") {
		return fault.Wrap(fault.Unavailable, damaged(err), "The audit tables have other columns than this program made, or values of another type in them. Restore the data directory from a backup.")
	}
	return unavailable(err)
}

// damaged marks a failure that waiting does not mend.
func damaged(err error) error { return errors.Join(store.ErrAuditDamaged, err) }
