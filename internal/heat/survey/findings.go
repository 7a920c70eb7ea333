package survey

import (
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// preferCountFor is how much newer a sample may be than a count that is still preferred.
const preferCountFor = 24 * time.Hour

// Findings returns the best known measurement of a project in each collection of its database, by
// name, from the results in memory: the newest, but a complete count is preferred to newer samples
// for a day.
func (e *Engine) Findings(db string, project bson.ObjectID) []Finding {
	e.mu.RLock()
	defer e.mu.RUnlock()
	best := map[topology.Namespace]Finding{}
	for _, j := range e.jobs { // newest first
		if j.result == nil || j.Request.Kind == Document || j.Request.Kind == Project && j.Request.Project != project {
			continue
		}
		for i := range j.result.Collections {
			c := &j.result.Collections[i]
			if c.NS.Database() != db || c.Reason == "" && !c.Complete {
				continue
			}
			f := Finding{Survey: j.ID, Kind: j.Request.Kind, Collection: c}
			if at := slices.IndexFunc(c.Projects, func(l Line) bool { return l.Project == project }); at >= 0 {
				f.Line = &c.Projects[at]
			}
			if had, ok := best[c.NS]; !ok || f.outweighs(had) {
				best[c.NS] = f
			}
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b Finding) int { return natural.Compare(a.Collection.NS, b.Collection.NS) })
}

// outweighs reports whether an older finding is better than a newer one: the newer one failed, or
// it is a sample and the older one a recent count.
func (f Finding) outweighs(newer Finding) bool {
	o, n := f.Collection, newer.Collection
	if o.Reason != "" {
		return false
	}
	return n.Reason != "" || o.Method == MethodCounted && n.Method == MethodSample && n.At.Sub(o.At) < preferCountFor
}
