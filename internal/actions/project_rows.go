package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// MostCounted is the highest number of rows that is counted. Counting reads an index
// entry per row, on shards that are about to be busy.
const MostCounted = 100_000

// Rows are rows of a collection that a plan changes: those of a project, or of a range that is
// moved. A count without orphans has the rows of the shard that owns them: of the donor before a
// move, and of the recipient after it.
type Rows struct {
	NS       topology.Namespace
	Project  string   // hex id; "": of a range
	Min, Max bson.Raw `json:",omitempty"` // of the range; nil without a project: of all further ranges
	Match    bson.Raw // filter; nil: they cannot be counted
}

// WriteRates returns how fast rows of a project are written.
type WriteRates interface {
	// WriteRate returns the rows a second that are inserted or deleted in a collection
	// for a project (hex id), as measured recently; known is false if not measured.
	WriteRate(ns topology.Namespace, project string) (perSecond float64, known bool)
}

// RowsOf returns the rows to count before and after a plan's steps, by namespace: the
// rows of the plan's project, or of the only project that its chunks can contain, or else those
// of the ranges that are moved.
func RowsOf(s Situation, a Args, steps []operation.Step) []Rows {
	if s.Table == nil {
		return nil
	}
	out := s.projectRows(a, steps)
	byProject := map[topology.Namespace]bool{}
	for _, r := range out {
		byProject[r.NS] = true
	}
	out = append(out, s.rangeRows(steps, byProject)...)
	slices.SortStableFunc(out, func(a, b Rows) int { return natural.Compare(a.NS, b.NS) })
	return out
}

func (s Situation) projectRows(a Args, steps []operation.Step) []Rows {
	if s.Profile == nil {
		return nil
	}
	of := map[topology.Namespace]string{} // the id of the only project of all steps so far; "" for none or several
	stored := map[string]bson.RawValue{}  // ids as they are stored
	for _, step := range steps {
		if step.NS == "" || a.Project == "" && !step.Migrates() {
			continue
		}
		project := a.Project
		if project == "" {
			var id bson.RawValue
			if id, project = s.onlyProject(step); project != "" {
				stored[project] = id
			}
		}
		if seen, ok := of[step.NS]; ok && seen != project {
			project = ""
		}
		of[step.NS] = project
	}
	var out []Rows
	for ns, project := range of {
		id, err := bson.ObjectIDFromHex(project)
		field := s.projectField(ns)
		if err != nil || field == "" {
			continue
		}
		value, ok := stored[project]
		if !ok && s.Directory != nil {
			value, ok = s.Directory.Value(ns.Database(), id), true
		}
		if !ok || value.Type == bson.TypeObjectID && placement.IsStandIn(value.ObjectID()) {
			continue // its stored id is not known
		}
		match, err := bson.Marshal(bson.D{{Key: field, Value: bson.D{{Key: "$eq", Value: value}}}})
		if err != nil {
			continue
		}
		out = append(out, Rows{NS: ns, Project: project, Match: match})
	}
	return out
}

// projectField returns the field with the project's id in the rows of a collection; ""
// when there is none.
func (s Situation) projectField(ns topology.Namespace) string {
	for _, c := range s.Profile.Nearest(s.Table, ns.Database()).Collections {
		if c.Name == ns.Collection() && c.Scope != profile.ScopeCluster {
			return c.ProjectField
		}
	}
	return ""
}

// onlyProject returns the stored id and the id of the project of all rows within a step's bounds; "" when there may be
// rows of several.
func (s Situation) onlyProject(step operation.Step) (stored bson.RawValue, project string) {
	c := s.Table.Collection(step.NS)
	if c == nil || !c.Key.LeadsWith(s.projectField(step.NS)) {
		return stored, ""
	}
	lo, errLo := c.Key.Bound(step.Min)
	hi, errHi := c.Key.Bound(step.Max)
	if errLo != nil || errHi != nil {
		return stored, ""
	}
	first, err := step.Min.IndexErr(0)
	if err != nil {
		return stored, ""
	}
	id, _, ok := placement.IDOf(first.Value())
	if !ok {
		return stored, ""
	}
	if own, ok := projectBounds(c.Key, first.Value()); !ok || lo.Compare(own.Min) < 0 || hi.Compare(own.Max) > 0 {
		return stored, ""
	}
	return first.Value(), id.Hex()
}
