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

// Routes of the matrix.
var Routes = site.Table(
	site.Question[api.List[api.MatrixRow]]{
		Route: site.Route{Pattern: "/matrix", Summary: "Collections and projects by shard", Time: site.Past, Internal: true,
			Writes: true,
			Topic:  site.Topic{Kind: "matrix", Of: isTopic, Draw: draw}},
		Page: Page, Ask: list, OfPage: site.Takes[spread.MatrixQuery](), OfData: site.Takes[spread.MatrixListQuery](),
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
