package locating

import (
	"testing"

	"shardboard/internal/api"
)

// An owner that the cluster does not have is said first, unless rows were counted elsewhere.
func TestHeadlineNamesAnOwnerThatTheClusterDoesNotHave(t *testing.T) {
	rows := int64(3)
	gone := api.Place{NS: "app.c", State: "unknown", Exact: true, Shards: []string{"gone"}, MissingShards: []string{"gone"}}
	both := api.Place{NS: "app.c", State: "unknown", Shards: []string{"a", "gone"}, MissingShards: []string{"gone"}}
	damaged, counted := gone, both
	damaged.Damage, counted.Rows = &api.Damage{}, &api.Figure{Value: &rows}
	for _, c := range []struct {
		kind, want string
		place      api.Place
	}{
		{"key", "This key is owned by gone, which the cluster does not have.", gone},
		{"key", "Rows with this key are owned by some of a and gone; the cluster does not have gone.", both},
		{"document", "It is owned by gone, which the cluster does not have.", gone},
		{"document", "Its rows are owned by some of a and gone; the cluster does not have gone.", both},
		{"key", "By the metadata this key belongs on gone; the cluster does not have gone — MongoDB refuses every operation on app.c: " +
			"its routing table is damaged.", damaged},
		{"key", "Rows with this key are on some of a and gone (3 rows).", counted},
	} {
		if got := headlineOf(api.LocateItem{Kind: c.kind, Places: []api.Place{c.place}}).String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
