package site

import (
	"net/http"

	"shardboard/web/guard"
)

// pagePatterns are the patterns that have a page for people to read.
func pagePatterns(table []Route) map[string]bool {
	out := map[string]bool{}
	for _, rt := range table {
		if rt.Method == http.MethodGet && rt.Tag == TagPages && rt.Policy != guard.PolicyOpen && rt.Types[0] == MediaHTML {
			out[rt.Pattern] = true
		}
	}
	return out
}
