package webtest

import (
	"strings"

	"shardboard/internal/answer"
)

// AddressOf fills a pattern of the route table with names and ids that the canned data has.
func AddressOf(pattern string) string {
	documents := CannedTable(1, 250).Collection("yorkie-meta.documents")
	return strings.NewReplacer(
		"/plans/{id}", "/plans/"+RecordID("split"),
		"/runs/{id}", "/runs/"+RecordID("running"),
		"{name}", "shard-rs-1",
		"{ns}", "yorkie-meta.documents",
		"{id}", ProjectID(5).Hex(),
		"{ref}", answer.ChunkRef(documents, documents.Chunks.At(3).Min),
		"{file}", "none.css",
		"{survey}", EndedSurvey,
		"{playbook}", "hot-project",
		"{runbook}", "balancer-off",
	).Replace(pattern)
}

// PagesWithChanges are the addresses of pages that offer changes.
func PagesWithChanges() []string {
	return []string{
		"/",
		"/shards/shard-rs-1",
		"/collections/yorkie-meta.documents",
		AddressOf("/collections/{ns}/chunks/{ref}"),
		"/projects/" + ProjectID(5).Hex(),
		"/zones",
	}
}
