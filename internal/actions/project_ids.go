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
func (d *draftBuilder) projectsIn(c *topology.Collection, r shardkey.Range) ([]bson.RawValue, bool) {
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
			r, err := c.Key.PrefixRange(ids[i])
			return err == nil && r.Min.Compare(bound) >= 0
		})
	}
	from := first(r.Min)
	return ids[from:max(from, first(r.Max))], true
}

// idsOf returns the project ids of a database as they are stored, in the order of keys. They are sorted once per draft.
func (d *draftBuilder) idsOf(db string) []bson.RawValue {
	if ids, ok := d.ids[db]; ok {
		return ids
	}
	var out []bson.RawValue
	for _, p := range d.s.Directory.All() {
		if p.DB == db {
			out = append(out, p.IDValue())
		}
	}
	slices.SortFunc(out, shardkey.CompareValues)
	d.ids[db] = out
	return out
}
