package placement

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/placement/ids"
)

// takeApart adds the anatomy of the ids in the question, then of those found.
func (a *Answer) takeApart() {
	now := time.Now()
	add := func(one ids.Anatomy) {
		same := func(o ids.Anatomy) bool { return o.Text == one.Text }
		if len(a.Anatomy) < maxAnatomies && !slices.ContainsFunc(a.Anatomy, same) {
			a.Anatomy = append(a.Anatomy, one)
		}
	}
	for _, r := range a.Input.Readings {
		switch {
		case r.UUID != ids.UUID{} || r.Form == FormUUID:
			add(ids.OfUUID(r.UUID, now))
		case r.Form == FormID, r.Form == FormReference, !r.ID.IsZero() && !IsStandIn(r.ID):
			add(ids.OfObjectID(r.ID, now))
		}
	}
	for _, it := range a.Items {
		if id, err := bson.ObjectIDFromHex(it.ID); err == nil && !IsStandIn(id) {
			add(ids.OfObjectID(id, now))
		}
	}
}

// mark says of each row whether its id is known to be on other shards too.
func (l *Locator) mark(a *Answer) {
	if l.shared == nil {
		return
	}
	for i := range a.Items {
		it := &a.Items[i]
		for _, p := range it.Places {
			at := slices.IndexFunc(p.Match, func(e Equal) bool { return e.Field == "_id" })
			if p.Exists != "yes" || at < 0 {
				continue
			}
			id, _, _ := IDOf(p.Match[at].Value)
			if s, ok := l.shared.Shared(IDPlace{NS: p.NS, ID: id}); ok && !id.IsZero() {
				it.Notes = append(it.Notes, message.New("note.sharedID",
					"The check for duplicate ids found this id in {ns} on {shards}: a chunk with one of the rows cannot be moved "+
						"to the shard of another; the move fails.",
					message.Namespace("ns", p.NS), message.Text("shards", strings.Join(s.Shards(), ", "))))
			}
		}
	}
}
