package collections_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestChunkPageWarnsOfMovesThatWouldFail(t *testing.T) {
	v := webtest.NewStory().View()
	c := v.Table.Collection("yorkie-meta.documents")
	chunk := c.Chunks.At(0)
	other := "shard-rs-2"
	if chunk.Shard == other {
		other = "shard-rs-3"
	}
	id := bson.ObjectID{0xab, 11: 1}
	shared := placement.SharedID{IDPlace: placement.IDPlace{NS: c.NS, ID: id}, Rows: []placement.SharedRow{
		{Shard: chunk.Shard}, // the zero project sorts into the first chunk
		{Shard: other, Project: bson.ObjectID{0xff}},
	}}
	s := webtest.New(t, func(d *site.Deps) { d.Locate.Duplicates = webtest.FoundDuplicates{Found: []placement.SharedID{shared}} })
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	path := "collections/yorkie-meta.documents/chunks/" + answer.ChunkRef(c, chunk.Min)
	got := webtest.Decode[api.ChunkWhy](t, s.Do("GET", "/api/v1/"+path+"/why"))
	expect.That(t, len(got.Dangers) == 1 && got.Dangers[0].Shard == other && got.Dangers[0].IDs[0] == id.Hex(),
		"dangers %+v, want %s", got.Dangers, other)
	page := s.Do("GET", "/"+path).Body.String()
	expect.That(t, strings.Contains(page, "Moves that would fail") && strings.Contains(page, id.Hex()), "the page does not warn")
}
