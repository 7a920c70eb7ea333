package placement

import (
	"context"
	"slices"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// byReference looks for the row that a project's id and its own id name: one
// targeted query per collection that it can be in. When the project is known
// and the row is not there (any more), the answer is where it would be: that
// follows from the ids alone, and its leftovers in other collections are there.
func (s *search) byReference(ctx context.Context, r Reading) error {
	dir := s.dirs.Directory()
	var in []string
	for _, db := range dir.Databases() {
		if _, ok := dir.In(db, r.ProjectID); ok {
			in = append(in, db)
		}
	}
	known := len(in) > 0
	if !known {
		in = dir.Databases()
	}
	var asked []*question
	for _, db := range in {
		for _, c := range s.profile.Nearest(s.t, db).Collections {
			ns := topology.Namespace(db + "." + c.Name)
			if c.Kind == "" || c.Scope != profile.ScopeProject || r.Kind != "" && c.Kind != r.Kind || presence(s.t, ns) == PresenceNo {
				continue
			}
			asked = append(asked, &question{db: db, kind: c.Kind, ns: ns})
			s.cost(ns, c.ProjectField, "_id")
		}
	}
	err := s.askAll(ctx, asked, func(ctx context.Context, q *question) ([]IDRow, error) {
		return s.src.ByReference(ctx, q.db, s.profile.RowFields(q.ns.Collection()), r.ProjectID, r.ID, maxRows)
	})
	if err != nil {
		return err
	}
	if s.addRows(asked) {
		return nil
	}
	if i := slices.IndexFunc(asked, func(q *question) bool { return r.Kind != "" && q.kind == r.Kind }); i >= 0 && known {
		it := s.itemOf(asked[i], IDRow{ID: r.ID, Project: r.ProjectID}, false)
		it.Notes = append(it.Notes, RowGone(asked[i].ns))
		s.add(it)
		return nil
	}
	if !known {
		return fault.New(
			fault.NotFound,
			s.own("No project has the id %s, and no row has it together with the id %s (searched %s)."),
			r.ProjectID.Hex(),
			r.ID.Hex(),
			s.searched(),
		)
	}
	return fault.New(
		fault.NotFound,
		s.own("The project %s exists, but no Yorkie document, client or schema of it has the id %s (searched %s)."),
		r.ProjectID.Hex(),
		r.ID.Hex(),
		s.searched(),
	)
}

// RowGone notes that the row of an id is not there (any more).
func RowGone(ns topology.Namespace) message.Message {
	return message.New(NoteRowGone, "No row of {ns} has this id any more: this is where its rows would be, and where leftovers of them are.",
		message.Namespace("ns", ns))
}

// NoteRowGone is the code of the note that RowGone makes.
const NoteRowGone = "note.rowGone"
