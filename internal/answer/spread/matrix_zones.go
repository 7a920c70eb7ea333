package spread

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// matrixZonesShown is how many zones a row names; the page of zones has all.
const matrixZonesShown = 3

// zonesOfRows are the zone ranges of a table, for the rows of the matrix.
type zonesOfRows struct {
	v   answer.View
	all []topology.Namespace // that have zone ranges
}

func newZonesOfRows(v answer.View) zonesOfRows {
	z := zonesOfRows{v: v}
	for _, r := range v.Computable().Table.Zones { // sorted by namespace
		if n := len(z.all); n == 0 || z.all[n-1] != r.NS {
			z.all = append(z.all, r.NS)
		}
	}
	return z
}

func (z zonesOfRows) ranges(ns topology.Namespace) []topology.ZoneRange {
	return z.v.Computable().Table.ZonesOf(ns)
}

// collection are the zones that ranges of a collection are in.
func (z zonesOfRows) collection(ns topology.Namespace) ([]api.ZoneName, int) {
	return z.shown(answer.Map(z.ranges(ns), func(r topology.ZoneRange) string { return r.Zone }))
}

// project are the zones that ranges of a project are in, of the collections whose shard key begins with
// the project.
func (z zonesOfRows) project(db string, id bson.ObjectID, of ...topology.Namespace) ([]api.ZoneName, int) {
	var names []string
	for _, ns := range z.all {
		if ns.Database() != db || len(of) > 0 && !slices.Contains(of, ns) {
			continue
		}
		own, ok := answer.ProjectRange(z.v, z.v.Computable().Table.Collection(ns), id)
		if !ok {
			continue
		}
		for _, r := range z.ranges(ns) {
			if !r.Min.IsZero() && own.Overlaps(shardkey.Range{Min: r.Min, Max: r.Max}) {
				names = append(names, r.Zone)
			}
		}
	}
	return z.shown(names)
}

// shown names the first zones and counts the others.
func (z zonesOfRows) shown(names []string) ([]api.ZoneName, int) {
	slices.SortFunc(names, natural.Compare[string])
	names = slices.Compact(names)
	return answer.Map(writes.First(names, matrixZonesShown), z.v.ZoneName), max(0, len(names)-matrixZonesShown)
}
