package survey

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// smallProject is up to how many Yorkie documents a project is also counted in the document-wide
// collections, with one query per document and collection.
const smallProject = 200

// counting is a survey of kind project or projects with its partial sums. Its fields are stored as
// JSON; do not rename them.
type counting struct {
	Parts     []*countPart
	Only      *bson.ObjectID             // kind project
	Projects  map[string][]bson.ObjectID // kind projects: project ids by database
	Values    map[string]values          `json:",omitempty"` // of projects, by database
	Expected  int64                      // rows; negative: unknown
	Names     string                     // the collection of documents
	Documents []bson.ObjectID            // kind project: document ids, while there are few
	Many      bool                       // there are too many
	Others    []Target                   // document-wide collections
	Each      *documents                 // progress in Others, once the rows are read
	Stored    values                     `json:",omitempty"` // of documents
}

// countPart is the state of one project-wide collection.
type countPart struct {
	Target  Target
	Project int // index in the project list of its database
	Next    Position
	Drawn   bool
	Ended   outcome
	Sums    cells
}

func newCounting(t *topology.Table, p *profile.Profile, dir *placement.Directory, r Request) *counting {
	c := &counting{Names: p.Keys.Collection}
	for _, one := range Targets(t, p, r, profile.ScopeProject) {
		c.Parts = append(c.Parts, &countPart{Target: one})
	}
	if r.Kind == Project {
		id := r.Project
		c.Only, c.Others, c.Expected = &id, Targets(t, p, r, profile.ScopeDocument), -1
		in, ok := dir.In(r.DB, id)
		c.know(in)
		if ok && in.Documents.Known && in.Clients.Known && r.NS == "" {
			c.Expected = in.Documents.Value + in.Clients.Value
		}
		return c
	}
	c.Projects = map[string][]bson.ObjectID{}
	for _, one := range dir.All() {
		c.Projects[one.DB] = append(c.Projects[one.DB], one.ID)
		c.know(one)
	}
	for _, ids := range c.Projects {
		slices.SortFunc(ids, func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) })
	}
	for _, one := range c.Parts {
		rows := TotalOf(t, one.Target.NS).Rows
		if !rows.Known {
			c.Expected = -1
			break
		}
		c.Expected += rows.Value
	}
	return c
}

// know keeps the stored id of a project.
func (c *counting) know(p placement.Project) {
	if p.Stored == "" {
		return
	}
	if c.Values == nil {
		c.Values = map[string]values{}
	}
	of := c.Values[p.DB]
	of.add(p.IDValue())
	c.Values[p.DB] = of
}

func (c *counting) progress() (done, total int64) {
	for _, p := range c.Parts {
		done += p.Sums.Read
	}
	total = c.Expected
	if c.Each != nil {
		d, t := c.Each.progress()
		return done + d, done + t
	}
	if total >= 0 {
		total = max(total, done)
	}
	return done, total
}

func (c *counting) step(ctx context.Context, r *Reader) (bool, error) {
	for _, p := range c.Parts {
		if !p.Drawn && p.Ended.Reason == "" {
			return false, p.Ended.take(r, c.batch(ctx, r, p))
		}
	}
	if c.Only == nil || c.Many || len(c.Others) == 0 || len(c.Documents) == 0 {
		return true, nil
	}
	if c.Each == nil {
		c.Each = newDocuments(c.Others, *c.Only, c.Documents...)
		c.Each.Values = c.Stored
		if db := c.Others[0].NS.Database(); c.Values[db][*c.Only] != nil {
			c.Each.Values.add(c.Values[db].of(*c.Only))
		}
	}
	return c.Each.step(ctx, r)
}

// batch reads the next rows of the current project.
func (c *counting) batch(ctx context.Context, r *Reader, p *countPart) error {
	var project bson.ObjectID
	list := c.Projects[p.Target.NS.Database()]
	switch {
	case c.Only != nil:
		project = *c.Only
	case p.Project < len(list):
		project = list[p.Project]
	default:
		p.Drawn = true
		return nil
	}
	stored := c.Values[p.Target.NS.Database()].of(project)
	rows, next, last, err := r.Rows(ctx, p.Target, &stored, p.Next)
	if err != nil {
		return err
	}
	table := r.table()
	for _, row := range rows {
		p.Sums.add(table, p.Target.NS, row)
		if c.Only != nil && p.Target.NS.Collection() == c.Names && !c.Many {
			if id, ok := c.Stored.add(row.Key.Lookup("_id")); ok {
				c.Documents = append(c.Documents, id)
			}
		}
	}
	if c.Many = c.Many || len(c.Documents) > smallProject; c.Many {
		c.Documents, c.Stored = nil, nil
	}
	if p.Next = next; last {
		p.Next = Position{}
		p.Project++
		p.Drawn = c.Only != nil || p.Project >= len(list)
	}
	return nil
}

func (c *counting) result(t *topology.Table) Result {
	var out Result
	for _, p := range c.Parts {
		one := p.Ended.collection(t, p.Target, MethodCounted)
		one.Read, one.Complete = p.Sums.Read, p.Drawn
		one.Projects = p.lines()
		if c.Only != nil && p.Drawn && len(one.Projects) == 0 {
			line := Line{Project: *c.Only}
			line.Rows.Exact, line.Bytes.Exact = true, true
			one.Projects = append(one.Projects, line)
		}
		if p.Ended.At.IsZero() {
			continue // not reached yet
		}
		out.Collections = append(out.Collections, one)
	}
	if c.Each != nil {
		out.Collections = append(out.Collections, c.Each.result(t).Collections...)
	}
	return out
}
