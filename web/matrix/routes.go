// Package matrix shows which shard has how much of each collection and each project.
package matrix

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/web/site"
)

var (
	ofBoth = []site.Param{
		site.Query("by", "collections (default) or projects"),
		site.Query("q", "only rows whose name contains this; of projects, also ids and public keys that begin with it"),
		site.Query("db", "one database only"),
	}
	ofPage = []site.Param{
		site.Query("measure", "bytes (default), documents, writes, or of collections reads"),
		site.Query("show", "absolute (default), row or column: shares of the row or the column"),
		site.Query("sort", "total (default), name, on:<shard> or in:<group of shards>"),
		site.Query("order", "usual (default) or reverse"),
		site.Query("columns", "auto (default), each (a column for each shard) or groups"),
		site.Query("open", "rows and groups of columns to open; repeated"),
		site.Query("close", "rows and groups of columns to close; repeated"),
		site.Number("page", "from 1"),
	}
)

// Routes of the matrix.
var Routes = site.Table(
	site.Question[api.List[api.MatrixRow]]{
		Route: site.Route{Pattern: "/matrix", Summary: "Collections and projects by shard", Params: ofBoth, Time: site.Past, Internal: true,
			Writes: true,
			Topic:  site.Topic{Kind: "matrix", Of: isTopic, Draw: draw}},
		Page: Page, Ask: list, OfPage: ofPage, OfData: site.Paged(),
		For: "What each shard has of every collection or project, and what pending moves change",
	},
)

func isTopic(name string) bool {
	_, ok := spread.MatrixTopics[name]
	return ok
}

// draw makes the usual view of a topic, which is the same for everybody.
func draw(ctx context.Context, s *site.Site, v answer.View, name string) (templ.Component, error) {
	return regionOf(ctx, s, v, spread.MatrixTopics[name]), nil
}
