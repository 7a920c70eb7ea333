package collections

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	ofCollection = []site.Param{site.ParamNS}
	ofChunk      = []site.Param{site.ParamNS, site.ParamRef}
)

// Routes of collections, their chunks and what their schema means them to be.
var Routes = site.Table(
	site.Question[api.List[api.Collection]]{
		Route: site.Route{Pattern: "/collections", Summary: "Collections by shard", Tagged: true, Time: site.Past, Internal: true,
			Topic: site.Topic{Kind: "collections", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
				return Region(v, "", 1), nil
			}}},
		Page: Page, Ask: list, All: true,
		OfPage: site.Takes[pageQuery](),
		OfData: site.Paged(site.Takes[listQuery]()...),
	},
	site.Question[api.CollectionDetail]{
		Route: site.Route{Pattern: "/collections/{ns}", Summary: "How is one collection's key space cut?", Params: ofCollection,
			Tagged: true, Measured: true, Time: site.Past, Writes: true, Topic: site.Topic{Kind: "collection", Of: site.Named}},
		Page: CollectionPage, OfPage: site.Takes[data.ChunkQuery](), Ask: collection, For: "One collection",
	},
	site.Asked(site.Route{Pattern: "/collections/{ns}/chunks", Summary: "Chunks of a collection, in key order or by size or writes",
		Params: append(site.Takes[data.ChunksQuery](), site.ParamNS),
		Tagged: true, Measured: true, Time: site.Past, Writes: true}, chunks),
	site.Asked(site.Route{Pattern: "/chunks", Summary: "Chunks of all collections, by collection and in key order",
		Params: site.Takes[data.ClusterChunksQuery](),
		Tagged: true, Measured: true, Time: site.Past, Internal: true, Writes: true}, clusterChunks),
	site.Question[api.Owners]{
		Route: site.Route{Pattern: "/collections/{ns}/owners", Summary: "Which shards had data of one collection, and since when?",
			Params: ofCollection, Time: site.NowOnly},
		Page: OwnersPage, Ask: owners, For: "Which shards had data of one collection, by the server's record (7.0 and later)",
	},
	site.Asked(site.Route{Pattern: "/collections/{ns}/map", Summary: "A tile of the chunk map",
		Params: append(site.Takes[data.ChunkTileQuery](), site.ParamNS),
		Tagged: true, Time: site.Past}, mapTile),

	// What is measured is no part of the table.
	site.Asked(site.Route{Pattern: "/collections/{ns}/chunks/{ref}/size",
		Summary: "Documents and bytes of one chunk, and whether its shard would move it",
		Params:  ofChunk, Time: site.NowOnly}, chunkSize),
	site.Change[api.ChunkMeasure, api.ChunkSize]{
		Route: site.Route{Pattern: "/collections/{ns}/chunks/{ref}/size", Summary: "Measure one chunk; reads only",
			Policy: guard.PolicyOperate, Params: ofChunk, BodyOptional: true},
		For: "Measure one chunk with dataSize, for at most 10 s; reads only",
		Do:  measure, Refused: notMeasured,
		Leads: func(r *http.Request, _ api.ChunkSize) string { return chunkPage(r) },
	},

	site.Question[api.List[api.Layout]]{
		Route: site.Route{Pattern: "/layout", Summary: "Does the sharding match the schema's layout?",
			Params: site.Described(new(data.LayoutQuery).Parameters(nil)),
			Tagged: true, Time: site.NowOnly},
		Page: LayoutPage, Ask: layouts, For: "Shard keys beside those of the nearest layout",
	},
)
