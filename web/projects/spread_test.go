package projects_test

import (
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestManyShardsOfAProjectAreListedInOneColumn(t *testing.T) {
	for shards, columns := range map[int]int{3: 6, 24: 4, 100: 4} {
		story := webtest.NewStory()
		story.Shards = shards
		v := story.View()
		id := v.Dir.All()[0].ID.Hex()
		doc := webtest.ParseHTML(t, webtest.Scene{Path: "/projects/" + id, View: v}.Open(t))
		table := doc.Find("table.where")
		expect.Equal(t, table.Find("thead th").Length(), columns, "%d shards: columns", shards)
		if columns == 4 {
			row := table.Find(`tr[data-key="` + string(webtest.DocumentsNS) + `"]`)
			link := row.Find(".parts .part a.shard")
			expect.That(t, link.Length() == 1 && link.AttrOr("href", "") != "", "%d shards: the shard of its documents is not a link", shards)
			expect.That(t, row.Find(".parts small").Text() != "", "%d shards: how much it has there is not said", shards)
		}
	}
}
