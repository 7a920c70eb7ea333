package collections_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// A collection that finds no room in memory says what it needs and what is left, in JSON too, and is not called
// damaged.
func TestACollectionWithoutRoomIsNotCalledDamaged(t *testing.T) {
	const ns = "yorkie-meta.huge"
	n := &topology.NoRoom{Chunks: 60_000, Bytes: 3_840_000, Left: 1 << 20}
	story := webtest.NewStory().With(func(t *topology.Table) {
		t.Damaged = append(t.Damaged, &topology.Damage{Meta: topology.Meta{NS: ns, Key: t.Collections[0].Key}, Kind: topology.DamageUnread,
			Since: webtest.Epoch.Add(-time.Hour), Text: n.Message(ns).String(), NoRoom: n})
	})
	v := story.View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	got := webtest.Decode[api.CollectionDetail](t, s.Do("GET", "/api/v1/collections/"+ns)).Damage
	if got == nil || got.Missing == nil || *got.Missing.Chunks != 60_000 || got.Missing.Bytes != 3_840_000 || got.Missing.Left != 1<<20 {
		t.Errorf("%+v", got)
	}
	const noted = "because memory is short: " + ns
	for path, want := range map[string][]string{
		"/collections/" + ns: {n.Message(ns).String(), "Raise the limit of shardboard's memory"},
		"/collections":       {n.Message(ns).String(), ">not read<", noted, "Which shards have it is not known."},
		"/":                  {"without those of " + ns, "Without " + ns + ", whose chunks are not known"},
		"/map":               {noted},
		"/matrix":            {noted},
	} {
		page := html.UnescapeString(s.Do("GET", path).Body.String())
		expect.ContainsAll(t, page, want, "%s", path)
		expect.That(t, !strings.Contains(page, "MongoDB refuses every operation") && !strings.Contains(page, ">damaged<"),
			"%s calls it damaged", path)
	}
}
