package records

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

var (
	dismissals = tableOf("dismissals", func(cluster *string, d *store.Dismissal) []any {
		return []any{cluster, &d.ID, &d.By, &d.Reason, &d.At}
	})
	takes = tableOf("takes", func(cluster *string, t *store.Take) []any {
		return []any{cluster, &t.ID, &t.By, &t.Note, &t.At}
	})
	alerts = tableOf("alerts", func(cluster *string, a *store.AlertRecord) []any {
		return []any{cluster, &a.ID, &a.At, &a.Body}
	})
	silences = tableOf("silences", func(cluster *string, s *store.Silence) []any {
		return []any{cluster, &s.ID, &s.Alert, &s.Rule, &s.By, &s.Reason, &s.At, &s.Until}
	})
	deliveries = tableOf("deliveries", func(cluster *string, d *store.Delivery) []any {
		return []any{cluster, &d.Target, &d.At, &d.Code, &d.Status, &d.Alerts, &d.Test, &d.Failed}
	})
	watches = tableOf("watches", func(cluster *string, w *store.Watch) []any {
		return []any{cluster, &w.By, &w.Kind, &w.Subject, &w.At}
	})
)

// put adds a record or replaces it, with an audit entry.
func put[T any](ctx context.Context, db DB, t table[T], cluster string, r T, e store.AuditEntry) error {
	return db.Audited(ctx, e, func(ctx context.Context, tx Tx) error { return tx.Put(ctx, t.Table, t.row(cluster, r)) })
}

// remove deletes a record by its id, with an audit entry; NotFound when there is none.
func remove[T any](ctx context.Context, db DB, t table[T], cluster, id string, e store.AuditEntry) error {
	return db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		n, err := tx.Delete(ctx, t.Table, t.is("cluster", cluster, "id", id))
		return found(n, err, fault.New(fault.NotFound, "It no longer exists: somebody may have removed it already."))
	})
}

// Dismiss stores a decision to hide a piece of advice.
func (r Records) Dismiss(ctx context.Context, cluster string, d store.Dismissal, e store.AuditEntry) error {
	return put(ctx, r.db, dismissals, cluster, d, e)
}

// Restore deletes such a decision.
func (r Records) Restore(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return remove(ctx, r.db, dismissals, cluster, id, e)
}

// Dismissals returns all decisions, newest first.
func (r Records) Dismissals(ctx context.Context, cluster string) ([]store.Dismissal, error) {
	return list(ctx, r.db, dismissals, dismissals.is("cluster", cluster), 0, "-at", "id")
}

// Take stores who deals with a problem.
func (r Records) Take(ctx context.Context, cluster string, t store.Take, e store.AuditEntry) error {
	return put(ctx, r.db, takes, cluster, t, e)
}

// Leave deletes that.
func (r Records) Leave(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return remove(ctx, r.db, takes, cluster, id, e)
}

// Takes returns who deals with which problem, newest first.
func (r Records) Takes(ctx context.Context, cluster string) ([]store.Take, error) {
	return list(ctx, r.db, takes, takes.is("cluster", cluster), 0, "-at", "id")
}

// SaveAlerts applies a change of the stored alerts.
func (r Records) SaveAlerts(ctx context.Context, cluster string, c store.AlertChange) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		for _, id := range c.Gone {
			if _, err := tx.Delete(ctx, alerts.Table, alerts.is("cluster", cluster, "id", id)); err != nil {
				return err
			}
		}
		return tx.Put(ctx, alerts.Table, alerts.rows(cluster, c.Saved)...)
	})
}

// Alerts returns all stored alerts.
func (r Records) Alerts(ctx context.Context, cluster string) ([]store.AlertRecord, error) {
	return list(ctx, r.db, alerts, alerts.is("cluster", cluster), 0, "id")
}

// AddSilence starts a silence and deletes expired ones.
func (r Records) AddSilence(ctx context.Context, cluster string, s store.Silence, e store.AuditEntry) error {
	return r.db.Audited(ctx, e, func(ctx context.Context, tx Tx) error {
		if _, err := tx.Delete(ctx, silences.Table, silences.and(silences.is("cluster", cluster), "until", "<=", s.At)); err != nil {
			return err
		}
		return tx.Insert(ctx, silences.Table, silences.row(cluster, s))
	})
}

// EndSilence ends a silence early.
func (r Records) EndSilence(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return remove(ctx, r.db, silences, cluster, id, e)
}

// Silences returns those in force.
func (r Records) Silences(ctx context.Context, cluster string, now time.Time) ([]store.Silence, error) {
	return list(ctx, r.db, silences, silences.and(silences.is("cluster", cluster), "until", ">", now), 0, "until", "id")
}

// SaveDelivery replaces the last delivery of a target.
func (r Records) SaveDelivery(ctx context.Context, cluster string, d store.Delivery, told ...store.AuditEntry) error {
	return r.askedOrLed(ctx, told, 0, func(ctx context.Context, tx Tx) error {
		return tx.Put(ctx, deliveries.Table, deliveries.row(cluster, d))
	})
}

// askedOrLed is a change that any replica makes, with audit entries, when a person asks for it, and otherwise the
// leader.
func (r Records) askedOrLed(ctx context.Context, told []store.AuditEntry, bodies int, f func(context.Context, Tx) error) error {
	if len(told) == 0 {
		return r.db.Lead(ctx, bodies, f)
	}
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		for _, e := range told {
			if _, err := tx.Append(ctx, e); err != nil {
				return err
			}
		}
		return f(ctx, tx)
	})
}

// Deliveries returns the last of each target.
func (r Records) Deliveries(ctx context.Context, cluster string) ([]store.Delivery, error) {
	return list(ctx, r.db, deliveries, deliveries.is("cluster", cluster), 0, "target")
}

func ofWatch(cluster string, w store.Watch) Where {
	return watches.is("cluster", cluster, "by", w.By, "kind", w.Kind, "subject", w.Subject)
}

// AddWatch stores a watch.
func (r Records) AddWatch(ctx context.Context, cluster string, w store.Watch) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		if found, err := exists(ctx, tx, watches, ofWatch(cluster, w)); err != nil || found {
			return err
		}
		return tx.Insert(ctx, watches.Table, watches.row(cluster, w))
	})
}

// EndWatch deletes a watch.
func (r Records) EndWatch(ctx context.Context, cluster string, w store.Watch) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Delete(ctx, watches.Table, ofWatch(cluster, w))
		return err
	})
}

// Watches returns one person's watches.
func (r Records) Watches(ctx context.Context, cluster, by string) ([]store.Watch, error) {
	return list(ctx, r.db, watches, watches.is("cluster", cluster, "by", by), 0, "at", "kind", "subject")
}
