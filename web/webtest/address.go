package webtest

import (
	"strings"

	"shardboard/internal/answer"
)

// AddressOf is an address of a route that answers over the fixture.
func AddressOf(pattern string) string {
	pattern = strings.NewReplacer(
		"/plans/{id}",
		"/plans/"+RecordID("split"),
		"/runs/{id}",
		"/runs/"+RecordID("running"),
	).Replace(
		pattern,
	)
	return strings.NewReplacer(
		"{name}",
		"shard-rs-1",
		"{ns}",
		"yorkie-meta.documents",
		"{id}",
		ProjectID(5).Hex(),
		"{ref}",
		answer.ChunkRef(
			CannedTable(1, 250).Collection("yorkie-meta.documents"),
			CannedTable(1, 250).Collection("yorkie-meta.documents").Chunks.At(3).Min,
		),
		"{file}",
		"none.css",
		"{survey}",
		EndedSurvey,
	).Replace(
		pattern,
	)
}
