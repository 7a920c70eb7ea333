package api

import "time"

// ProjectDocument is one document of a project (GET projects/{id}/documents).
type ProjectDocument struct {
	Key       string     `json:"key"`
	ID        string     `json:"id"`
	Shards    []string   `json:"shards"` // where its own row is; several where its shard key is not known
	Exact     bool       `json:"exact"`  // false: one of these shards may hold it
	Removed   bool       `json:"removed"`
	CreatedAt *time.Time `json:"createdAt"`
	UpdatedAt *time.Time `json:"updatedAt"`
	Changes   *int64     `json:"changes"` // number of its newest change; null: not counted in this data
}

// ProjectDocuments is one page of the documents of a project, by their keys (GET projects/{id}/documents).
type ProjectDocuments struct {
	Items       []ProjectDocument `json:"items"`
	Next        Cursor            `json:"next"` // null after the last page
	AsOf        time.Time         `json:"asOf"` // when the documents were read
	Stale       bool              `json:"stale"`
	NS          string            `json:"ns"`
	Project     string            `json:"project"`
	ProjectName string            `json:"projectName"`
	Documents   Figure            `json:"documents"` // how many there are, as Yorkie counts them: without removed ones
}
