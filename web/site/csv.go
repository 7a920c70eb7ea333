package site

import (
	"encoding/csv"
	"net/http"

	"shardboard/internal/answer"
)

// NewSheet begins a CSV file with its header.
func NewSheet(w http.ResponseWriter, header ...string) answer.Sheet {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	s := answer.Sheet{Out: csv.NewWriter(w)}
	s.Row(header...)
	return s
}
