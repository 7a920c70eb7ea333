package locating

import (
	"strconv"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
)

// What is known of each collection is said of it alone, and shards are counted where nobody would read their names.
func TestHeadlineOfUncountedRowsSaysOfEachCollectionWhatIsKnown(t *testing.T) {
	yes := true
	var many []string
	for n := range 24 {
		many = append(many, "s"+strconv.Itoa(n+1))
	}
	seen := api.Place{NS: "y.projects", Exact: true, Exists: &yes, Shards: []string{"s1"}}
	documents := api.Place{NS: "y.documents", Exact: true, Shards: []string{"s20"}}
	clients := api.Place{NS: "y.clients", Exact: true, Shards: []string{"s20"}}
	changes, few := api.Place{NS: "y.changes", Shards: many}, api.Place{NS: "y.changes", Shards: []string{"s2", "s10"}}
	for _, c := range []struct {
		want   string
		places []api.Place
	}{
		{"projects: s1; documents and clients: on s20, not counted; changes: on some of 24 shards, not counted.",
			[]api.Place{documents, clients, changes, seen}},
		{"documents: on s20, not counted; changes: on some of s2 and s10, not counted.", []api.Place{documents, few}},
		{"projects: s1; changes: on some of s2 and s10, not counted.", []api.Place{few, seen}},
		{"Its rows belong on s20, not counted.", []api.Place{documents, clients}},
		{"Its rows belong on some of 24 shards, not counted.", []api.Place{changes}},
	} {
		got := headlineOf(api.LocateItem{Kind: "project", Places: c.places}).String()
		expect.Equal(t, got, c.want, "%d places", len(c.places))
	}
}
