package answer

import (
	"net/url"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
)

// rangesOffered bounds the ranges and members that the zones' page offers to
// take away, one by one.
const RangesOffered = 40

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

func ReasonOf(codes ...string) string {
	for _, c := range codes {
		if c != "" {
			return c
		}
	}
	return ""
}

func When(is bool, code string) string {
	if is {
		return code
	}
	return ""
}

// extJSON is a document for an address: canonical, so that no type is lost.
func ExtJSON(doc bson.Raw) string { return string(api.Document(doc)) }
