package rules

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// takenFor is how long somebody who took a problem is shown with it: a problem has the same id when it comes again.
const takenFor = 24 * time.Hour

// TakenBy is who deals with a problem or with one of its consequences; zero: nobody.
func (v View) TakenBy(p Problem) store.Take {
	for _, t := range v.Taken { // newest first
		if t.ID == p.ID || slices.ContainsFunc(p.Consequences, func(x Problem) bool { return x.ID == t.ID }) {
			return t
		}
	}
	return store.Take{}
}

// Take notes that somebody deals with a problem that exists now, instead of who did before. The note may be empty.
func (a *Advisor) Take(ctx context.Context, id, note string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	if len(note) > maxReason {
		return fault.New(fault.Invalid, "Give a note of at most %d bytes.", maxReason)
	}
	found, err := a.View(ctx)
	if err != nil {
		return err
	}
	p, ok := found.Find(id)
	if !ok {
		return fault.New(fault.NotFound, "There is no such problem now; it may be over.")
	}
	e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.taken", id, "ok"
	e.Details = map[string]string{"note": note, "about": p.Subject}
	defer a.forget()
	return a.from.Notices.Take(ctx, a.Cluster(), store.Take{ID: id, By: e.By, Note: note, At: e.At}, e)
}

// Leave notes that nobody deals with a problem any more.
func (a *Advisor) Leave(ctx context.Context, id string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.left", id, "ok"
	defer a.forget()
	return a.from.Notices.Leave(ctx, a.Cluster(), id, e)
}
