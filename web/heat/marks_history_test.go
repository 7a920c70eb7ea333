package heat_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// Moves that the changelog in memory no longer has are taken from history.
func TestHeatMapKnowsOwnersAndMarksFromBeforeTheChangelog(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		owner := t.Collection(webtest.ChangesNS).Chunks.Owner
		t.Events = []topology.Event{
			moved(t, "c", bubble.Add(140*time.Second), 1, "shard-rs-2", owner(1)),
			moved(t, "b", bubble.Add(90*time.Second), 1, "shard-rs-3", "shard-rs-2"),
			{ID: "a", Time: bubble.Add(30 * time.Second), What: "shardCollection.end", NS: string(webtest.ChangesNS)},
		}
	}).View()
	past := webtest.NewPast(t, bubble)
	past.Note(bubble.Add(150*time.Second), v.Table)
	var deps site.Deps
	past.Into(&deps)
	brief := *v.Table
	brief.Events = v.Table.Events[:1]
	v.Table = &brief
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	v.Now = s.Deps.Now()
	for _, x := range []struct {
		name         string
		events       writes.HeatEvents
		since        time.Duration
		owners, want string
	}{
		{"without history", writes.HeatEvents{}, 140 * time.Second, "shard-rs-2", "move"},
		{"with history", writes.HeatEvents{Kept: deps.Past.History}, 30 * time.Second, "shard-rs-2 shard-rs-3", "move move"},
	} {
		m, err := writes.HeatMap(t.Context(), v, writes.HeatSource{Pictures: s.Deps.Measured.Pictures, Events: x.events},
			writes.HeatMapQuery{NS: webtest.ChangesNS, By: "key", From: bubble, To: v.Now})
		must.Do(t, err)
		var owners, marks []string
		for _, w := range rowOf(t, m, 2).Was {
			owners = append(owners, w.Shard)
		}
		for _, k := range m.Marks {
			marks = append(marks, k.Kind)
		}
		expect.That(t, strings.Join(owners, " ") == x.owners && strings.Join(marks, " ") == x.want,
			"%s: owners %v, marks %v", x.name, owners, marks)
		expect.That(t, m.OwnersSince != nil && m.OwnersSince.Equal(bubble.Add(x.since)),
			"%s: owners are known since %v", x.name, m.OwnersSince)
	}
}

// One mark leads to its chunk; several together, and those without a range, to the entries of their minutes.
func TestMarksLeadToTheChunkOrToTheirMinutes(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Events = []topology.Event{
			moved(t, "b", bubble.Add(140*time.Second), 1, "shard-rs-2", "shard-rs-1"),
			{ID: "a2", Time: bubble.Add(70*time.Second + time.Millisecond), What: "merge", NS: string(webtest.ChangesNS)},
			{ID: "a1", Time: bubble.Add(70 * time.Second), What: "merge", NS: string(webtest.ChangesNS)},
		}
	}).View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	marks := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map")).Marks
	must.That(t, len(marks) == 2 && marks[0].Count == 2, "marks: %+v", marks)
	minute := url.Values{"kind": {"merge"}, "ns": {string(webtest.ChangesNS)}, "from": {"2000-01-01T00:01"}, "to": {"2000-01-01T00:02"}}
	if want := "/activity?" + minute.Encode(); string(marks[0].URL) != want {
		t.Errorf("two merges lead to %s, want %s", marks[0].URL, want)
	}
	c := v.Table.Collection(webtest.ChangesNS)
	if want := answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(1).Min)); string(marks[1].URL) != want {
		t.Errorf("a move leads to %s, want its chunk %s", marks[1].URL, want)
	}
}
