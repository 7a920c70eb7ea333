package placement

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// search follows every reading of one question.
type search struct {
	*Locator
	q   Query
	t   *topology.Table
	out *Answer
}

// readings collects what each reading leads to. Not finding anything by one of
// them is an error only when no other has found something.
func (s *search) readings(ctx context.Context) error {
	var missing error
	for _, r := range s.out.Input.Readings {
		var err error
		switch r.Form {
		case FormDocumentKey, FormDashboard:
			err = s.byDocumentKey(ctx, r)
		case FormID:
			err = s.byID(ctx, r.ID)
		case FormReference:
			err = s.byReference(ctx, r)
		case FormProject:
			err = s.noProject(r.Project)
		case FormUUID, FormValue: // only a collection's shard key could say where
		}
		if err != nil && fault.Of(err) != fault.NotFound && fault.Of(err) != fault.Invalid {
			return err
		}
		if missing == nil {
			missing = err
		}
	}
	if len(s.out.Items) > 0 {
		return nil
	}
	return missing
}

// add keeps items that are not there yet: two readings may lead to one row.
func (s *search) add(items ...Item) {
	for _, it := range items {
		same := func(o Item) bool {
			return o.Kind == it.Kind && o.ID == it.ID && o.DB == it.DB && (o.Project == nil) == (it.Project == nil) &&
				(o.Project == nil || o.Project.ID == it.Project.ID)
		}
		if !slices.ContainsFunc(s.out.Items, same) {
			s.out.Items = append(s.out.Items, it)
		}
	}
}

func (s *search) projects(ref string) []Item {
	var items []Item
	for _, p := range s.dirs.Directory().Exactly(ref) {
		items = append(items, s.projectItem(s.t, p))
	}
	return items
}

// noProject finds the project that a text means without being its name, id or key; else it is
// the sentence that there is none.
func (s *search) noProject(typed string) error {
	if s.out.Input.ProjectKeyShaped {
		return fault.New(
			fault.NotFound,
			s.own("No project has this public key (searched the projects of %s). If it was a secret key, it is now exposed: rotate it."),
			s.searched(),
		)
	}
	if len(s.out.Items) > 0 {
		return nil // it is a project's name after all
	}
	if p, ok := s.near(typed); ok {
		it := s.projectItem(s.t, p)
		it.Notes = append(it.Notes, nearNote(typed, p))
		s.add(it)
		return nil
	}
	if v, ok := ReadValue(typed); ok {
		return fault.New(
			fault.NotFound,
			s.own("No project has this name (searched the projects of %s). Read as %s, it is in no collection by itself: name a "+
				"collection with it under “By collection and shard key”, or look for it as an _id in all collections.%s"),
			s.searched(), v.Kind, s.didYouMean(),
		)
	}
	return fault.New(
		fault.NotFound,
		s.own("No project has this name, id or public key, and it is not an id (searched the projects of %s). For a Yorkie "+
			"document type project/document key.%s"),
		s.searched(), s.didYouMean(),
	)
}

func (s *search) byDocumentKey(ctx context.Context, r Reading) error {
	projects := s.dirs.Directory().Exactly(r.Project)
	if r.Key == "" && r.Form == FormDocumentKey {
		return fault.New(fault.Invalid, "There is no document key after the slash.")
	}
	var notes []message.Message
	if len(projects) == 0 {
		if p, ok := s.near(r.Project); ok {
			projects, notes = []Project{p}, []message.Message{nearNote(r.Project, p)}
		}
	}
	switch {
	case r.Key == "" && len(projects) > 0: // an address of a project
		for _, p := range projects {
			it := s.projectItem(s.t, p)
			it.Notes = append(it.Notes, notes...)
			s.add(it)
		}
		return nil
	case len(projects) == 0 && keyShaped(r.Project):
		return s.noProject(r.Project)
	case len(projects) == 0 && r.Form == FormDashboard:
		return fault.New(fault.NotFound, s.own("No project has the name in this address (searched the projects of %s).%s"),
			s.searched(), s.didYouMean())
	case len(projects) == 0:
		return fault.New(
			fault.NotFound,
			s.own("No project has the name, id or public key before the slash (searched the projects of %s).%s"),
			s.searched(), s.didYouMean(),
		)
	}
	found := 0
	for _, p := range projects {
		s.cost(topology.Namespace(p.DB+"."+s.profile.Keys.Collection), s.profile.Keys.Project)
		rows, err := s.src.DocumentsByKey(ctx, p.DB, s.profile.Keys, p.IDValue(), r.Key, maxRows)
		if err != nil {
			return err
		}
		own := notes
		if len(rows) == 0 && s.q.Near {
			if rows, err = s.nearKeys(ctx, p, r.Key); err != nil {
				return err
			}
			if len(rows) > 0 {
				own = append(slices.Clone(notes), nearKeyNote(r.Key, rows[0].Key))
			}
		}
		// The living document first: removed ones keep their key.
		slices.SortStableFunc(rows, func(a, b DocumentRow) int { return boolCompare(a.Removed, b.Removed) })
		for _, row := range rows {
			it := s.documentItem(s.t, p.DB, row.idRow(p.Stored), row.Removed, true)
			it.Notes = append(it.Notes, own...)
			s.add(it)
		}
		found += len(rows)
	}
	switch {
	case found > 0:
		return nil
	case len(notes) > 0:
		return fault.New(fault.NotFound, s.own("No project has exactly this name. The nearest is %s, and no Yorkie document of it has "+
			"exactly this key."),
			sanitize.Quoted(sanitize.Truncate(projects[0].Name, 60)))
	}
	return fault.New(fault.NotFound, s.own("The project exists, but no Yorkie document of it has exactly this key, upper and lower "+
		"case and blanks included (searched %s.%s with project %s)."),
		projects[0].DB, s.profile.Keys.Collection, projects[0].IDText())
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// question is one query by id that a text leads to.
type question struct {
	db, kind string
	ns       topology.Namespace
	rows     []IDRow
}

// byID asks every collection in which a bare id may be a row's; when none has it, the other
// collections of projects and documents.
func (s *search) byID(ctx context.Context, id bson.ObjectID) error {
	s.add(s.projects(id.Hex())...) // the text may have had it in quotes
	var asked []*question
	var others []topology.Namespace
	for _, db := range s.dirs.Directory().Databases() {
		for _, c := range s.profile.Nearest(s.t, db).Collections {
			ns := topology.Namespace(db + "." + c.Name)
			switch {
			case presence(s.t, ns) == PresenceNo:
			case c.Kind != "":
				asked = append(asked, &question{db: db, kind: c.Kind, ns: ns})
				s.cost(ns, "_id")
			case c.Scope != profile.ScopeCluster: // those may hold secrets, and the reading role does not have them
				others = append(others, ns)
			}
		}
	}
	err := s.askAll(ctx, asked, func(ctx context.Context, q *question) ([]IDRow, error) {
		return s.src.ByID(ctx, q.db, s.profile.RowFields(q.ns.Collection()), id, maxRows)
	})
	if err != nil {
		return err
	}
	if s.addRows(asked) || len(s.out.Items) > 0 {
		return nil
	}
	if err := s.inCollections(ctx, others, []bson.RawValue{ObjectIDValue(id)}); err != nil || len(s.out.Items) > 0 {
		return err
	}
	return fault.New(
		fault.NotFound,
		s.own("No project, Yorkie document, client, schema or revision has the id %s, and no row of their other "+
			"collections (searched %s)."),
		id.Hex(),
		s.searched(),
	)
}

// askAll runs the queries side by side: each is a round trip.
func (s *search) askAll(ctx context.Context, asked []*question, ask func(context.Context, *question) ([]IDRow, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, q := range asked {
		g.Go(func() (err error) {
			q.rows, err = ask(ctx, q)
			return err
		})
	}
	return g.Wait()
}

// addRows keeps the rows that were found and tells whether there are any.
func (s *search) addRows(asked []*question) (found bool) {
	for _, q := range asked {
		for _, r := range q.rows {
			it := s.itemOf(q, r, true)
			if len(q.rows) > 1 {
				// Legal: _id is unique per shard only.
				it.Notes = append(it.Notes, message.New("note.duplicateID",
					"More than one row of {ns} has this id: ids are unique per shard only.", message.Namespace("ns", q.ns)))
			}
			s.add(it)
			found = true
		}
	}
	return found
}

func (s *search) itemOf(q *question, r IDRow, seen bool) Item {
	if q.ns.Collection() == s.profile.Keys.Collection {
		return s.documentItem(s.t, q.db, r, false, seen)
	}
	return s.rowItem(s.t, q.db, q.kind, q.ns, r, seen)
}

// cost counts one query by how the table would send it. Known are the fields
// that its filter names.
func (s *search) cost(ns topology.Namespace, known ...string) {
	c := s.t.Collection(ns)
	if c == nil || c.Unsplittable || slices.Contains(known, c.Key.Fields()[0].Name) {
		s.out.Cost.Targeted++
		return
	}
	s.out.Cost.Broadcast++
}
