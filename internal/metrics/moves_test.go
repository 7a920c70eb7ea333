package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// logged is an entry of the changelog about a move from a to b.
func logged(t *testing.T, at int, what, note string, chunk int) topology.Event {
	t.Helper()
	d := bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: chunk}}}, {Key: "max", Value: bson.D{{Key: "k", Value: chunk + 1}}},
		{Key: "from", Value: "a"}, {Key: "to", Value: "b"}}
	if note != "" {
		d = append(d, bson.E{Key: "note", Value: note})
	}
	raw := must.Get(bson.Marshal(d))
	return topology.Event{ID: fmt.Sprint("e", at), Time: epoch.Add(time.Duration(at) * time.Second), What: what, NS: "db.x",
		Shard: "a", Details: raw}
}

func TestEachMoveIsCountedOnce(t *testing.T) {
	tab := table("a", "b")
	tab.Collections = []*topology.Collection{collection("db.x", 4, "a", "b")}
	log := []topology.Event{
		// before the start
		logged(t, 1, "moveChunk.start", "", 1), logged(t, 2, "moveChunk.commit", "", 1), logged(t, 3, "moveChunk.from", "success", 1),
		logged(t, 11, "moveChunk.start", "", 2), logged(t, 12, "moveChunk.commit", "", 2), logged(t, 13, "moveChunk.from", "success", 2),
		logged(t, 21, "moveChunk.start", "", 3), logged(t, 22, "moveChunk.error", "aborted", 3), logged(t, 23, "moveChunk.from", "aborted", 3),
		logged(t, 31, "moveChunk.start", "", 2), logged(t, 32, "moveChunk.commit", "", 2), logged(t, 33, "moveChunk.from", "success", 2),
	}
	m := NewMoves(nil)
	from := sources(tab)
	from.Moves = m
	done := func() [3]float64 {
		got := scrape(t, NewCluster(from))
		of := `{` + id + `,collection="db.x",`
		return [3]float64{got[`shardboard_moves_total`+of+`direction="out",shard="a"}`],
			got[`shardboard_moves_total`+of+`direction="in",shard="b"}`],
			got[`shardboard_move_failures_total`+of+`shard="a"}`]}
	}
	for _, step := range []struct {
		entries int
		want    [3]float64
	}{{3, [3]float64{}}, {4, [3]float64{}}, {6, [3]float64{1, 1, 0}}, {6, [3]float64{1, 1, 0}}, {9, [3]float64{1, 1, 1}},
		{12, [3]float64{2, 2, 1}}} {
		next := *tab
		next.Events = slices.Clone(log[:step.entries])
		slices.Reverse(next.Events)
		m.read(&next)
		expect.Equal(t, done(), step.want, "with %d entries: out, in, failed", step.entries)
	}
}

func TestMovesAreNotCountedBeforeTheChangelogWasRead(t *testing.T) {
	tab := table("a")
	tab.Health[topology.PartEvents] = topology.Health{}
	m := NewMoves(nil)
	m.read(tab)
	from := sources(tab)
	from.Moves = m
	for name := range scrape(t, NewCluster(from)) {
		if name == `shardboard_moves_total{`+id+`,collection="other",direction="in",shard="a"}` {
			t.Error("moves are counted before the changelog was read")
		}
	}
}
