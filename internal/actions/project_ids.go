package actions

import (
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// projectsIn returns the projects whose key range begins in a range, in order; false if
// the shard key does not begin with the project, or the projects are not known.
func (d *draftBuilder) projectsIn(c *topology.Collection, r shardkey.Range) ([]bson.ObjectID, bool) {
	if d.s.Profile == nil || d.s.Directory == nil || !d.s.Directory.Loaded() {
		return nil, false
	}
	coll, ok := d.s.Profile.Collection(c.NS.Collection())
	if !ok || !c.Key.LeadsWith(coll.ProjectField) {
		return nil, false
	}
	ids := d.idsOf(c.NS.Database())
	first := func(bound shardkey.Key) int {
		return sort.Search(len(ids), func(i int) bool {
			lo, _ := projectBounds(c.Key, ids[i])
			return lo.Compare(bound) >= 0
		})
	}
	from := first(r.Min)
	return ids[from:max(from, first(r.Max))], true
}

// idsOf returns the project ids of a database, in order. They are sorted once per draft.
func (d *draftBuilder) idsOf(db string) []bson.ObjectID {
	if ids, ok := d.ids[db]; ok {
		return ids
	}
	var out []bson.ObjectID
	for _, p := range d.s.Directory.All() {
		if p.DB == db {
			out = append(out, p.ID)
		}
	}
	slices.SortFunc(out, func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) })
	d.ids[db] = out
	return out
}
