package sqlite

import (
	"errors"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// auditFailure explains why the audit tables cannot be used. A missing or changed table is
// distinguished from a full or busy disk, because it does not repair itself and somebody caused it.
func auditFailure(err error) error {
	if err == nil {
		return nil
	}
	if t, ok := store.TroubleOf(err); ok && (t.Code == store.TroubleDamaged || t.Code == store.TroubleSchema) {
		return damaged(err) // already has a sentence and a remedy
	}
	text := err.Error()
	for _, table := range [...]string{"audit_heads", "audit"} {
		if strings.Contains(text, "table "+table+" has") || strings.Contains(text, "cannot modify "+table) {
			return fault.Wrap(
				fault.Unavailable,
				damaged(err),
				"The table %s of the audit record was replaced or has other columns than this program made. Actions that must be recorded are "+
					"refused until it is repaired: restore the data directory from a backup.",
				table,
			)
		}
	}
	if strings.Contains(text, "no such column") || unscannable(err) {
		return fault.Wrap(
			fault.Unavailable,
			damaged(err),
			"The audit tables have other columns than this program made, or values of another type in them. Restore the data directory from "+
				"a backup.",
		)
	}
	return unavailable(err)
}

// damaged marks a failure that does not repair itself.
func damaged(err error) error { return errors.Join(store.ErrAuditDamaged, err) }
