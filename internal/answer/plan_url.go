package answer

import (
	"net/url"

	"shardboard/internal/actions"
)

// PlanURL is the address of the form of a kind, with arguments as name, value pairs.
func PlanURL(k actions.Kind, pairs ...string) string {
	q := url.Values{"kind": {string(k)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/plans/new?" + q.Encode()
}
