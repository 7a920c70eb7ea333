package collections

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	ofDatabase   = []site.Param{site.Query("db", "one database only")}
	ofCollection = []site.Param{site.ParamNS}
	ofChunk      = []site.Param{site.ParamNS, site.ParamRef}
	layoutFilter = []site.Param{site.Query("db", "one database only"), site.Query("layout", "compare with this layout, not the nearest")}
)

// Routes of collections, their chunks and what their schema means them to be.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/collections", Summary: "Collections by shard", Handler: Page, Tagged: true, Time: site.Past,
		Internal: true,
		Topic: site.Topic{Kind: "collections", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Region(v), nil
		}}}),
	site.Page(site.Route{Pattern: "/collections.csv", Summary: "Collections by shard, as CSV", Params: ofDatabase, Handler: CSV,
		Types: []string{site.MediaCSV}, Tagged: true, Time: site.Past}),
	site.Get(site.Route{Pattern: "/collections", Summary: "Collections by shard; as CSV all of them", Params: site.Paged(ofDatabase...),
		Answer: api.List[api.Collection]{}, Types: []string{site.MediaJSON, site.MediaCSV}, Handler: JSON, Tagged: true, Time: site.Past}),

	site.Page(site.Route{Pattern: "/collections/{ns}", Summary: "How is one collection's key space cut?", Params: ofCollection,
		Handler: CollectionPage,
		Tagged:  true, Measured: true, Time: site.Past, Topic: site.Topic{Kind: "collection", Of: site.Named}}),
	site.Get(site.Route{Pattern: "/collections/{ns}", Summary: "One collection", Params: ofCollection, Answer: api.CollectionDetail{},
		Handler: CollectionJSON,
		Tagged:  true, Measured: true, Time: site.Past}),

	site.Get(site.Route{Pattern: "/collections/{ns}/chunks", Summary: "Chunks of a collection, in key order or by size or writes",
		Params: site.Paged(
			site.ParamNS,
			site.Query("shard", "on this shard"),
			site.Query("jumbo", "true or false"),
			site.Query("zone", "covered by this zone"),
			site.Query("oversized", "true or false: has more documents than its shard moves at once, as far as is known"),
			site.Query(
				"sort",
				"bytes, documents or heat, largest first; measured chunks by what was measured, others by the estimate of their shard",
			),
			site.Query("from", "begin with the chunk of this bound"),
			site.Query("key", "only the chunk that holds this key"),
		),
		Answer: api.ChunkList{}, Handler: ChunksJSON, Tagged: true, Measured: true, Time: site.Past}),
	site.Get(site.Route{Pattern: "/collections/{ns}/map", Summary: "A tile of the chunk map",
		Params: []site.Param{site.ParamNS, site.Number("level", "0 to 20: the chunks are cut into 2^level tiles"),
			site.Number("index", "tile, from 0")},
		Answer: api.Tile{}, Handler: MapJSON, Tagged: true, Time: site.Past}),

	// What is measured is no part of the table.
	site.Get(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/size",
		Summary: "Documents and bytes of one chunk, and whether its shard would move it",
		Params:  ofChunk, Answer: api.ChunkSize{}, Handler: ChunkSizeJSON, Time: site.NowOnly}),
	site.Post(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/size",
		Summary: "Measure one chunk with dataSize, for at most 10 s; reads only", Policy: guard.PolicyOperate,
		Params: ofChunk, Body: api.ChunkMeasure{}, BodyOptional: true, Answer: api.ChunkSize{}, Handler: MeasureJSON}),
	site.Form(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/size", Summary: "Measure one chunk; reads only",
		Policy: guard.PolicyOperate, Params: ofChunk, Handler: PostChunkSize}),

	site.Page(site.Route{Pattern: "/layout", Summary: "Is it sharded as its schema means it to be?", Params: layoutFilter,
		Handler: LayoutPage, Tagged: true, Time: site.NowOnly}),
	site.Get(site.Route{Pattern: "/layout", Summary: "Shard keys beside those of the nearest layout", Params: layoutFilter,
		Answer: api.List[api.Layout]{}, Handler: LayoutJSON,
		Tagged: true, Time: site.NowOnly}),
}
