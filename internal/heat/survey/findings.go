package survey

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Findings returns the newest count of a project in each collection of its database, by name, from
// the results in memory. One that failed is returned only if there is no other.
func (e *Engine) Findings(db string, project bson.ObjectID) []Finding {
	e.mu.RLock()
	defer e.mu.RUnlock()
	best := map[topology.Namespace]Finding{}
	for _, j := range e.jobs { // newest first
		switch {
		case j.result == nil, j.Request.Kind == Project && j.Request.Project != project:
			continue
		case j.Request.Kind == Document, j.Request.Kind == Sample: // not of a project; older than what is estimated
			continue
		}
		for i := range j.result.Collections {
			c := &j.result.Collections[i]
			if c.NS.Database() != db || c.Reason == "" && !c.Complete {
				continue
			}
			f := Finding{Survey: j.ID, Collection: c}
			if at := slices.IndexFunc(c.Projects, func(l Line) bool { return l.Project == project }); at >= 0 {
				f.Line = &c.Projects[at]
			}
			if had, ok := best[c.NS]; !ok || had.Collection.Reason != "" && c.Reason == "" {
				best[c.NS] = f
			}
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b Finding) int { return natural.Compare(a.Collection.NS, b.Collection.NS) })
}
