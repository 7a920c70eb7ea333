package audit

import (
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

func filters(more ...site.Param) []site.Param {
	return append([]site.Param{
		site.Query("by", "of this principal"), site.Query("what", "this code, or a prefix that ends in a dot"),
		site.Query("subject", "about this"),
		site.Query("from", "at this time or later, RFC 3339 or a date in UTC"), site.Query("to", "before this time"),
	}, more...)
}

// Routes of the record of who did what. Operators may read it and not only admins:
// who runs a plan at night has to see what others did, refused and stopped before.
// Viewers and support may not: it holds people's names and addresses, which their
// work does not need.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/audit", Summary: "Who did what?", Policy: guard.PolicyOperate, Handler: Page,
		Params: filters(site.Query("below", "older than the record with this number"))}),
	site.Get(site.Route{Pattern: "/audit", Summary: "The audit record, newest first", Policy: guard.PolicyOperate, Handler: JSON,
		Answer: api.List[api.AuditRecord]{},
		Params: site.Paged(filters(site.Query("order", "newest, the default, or oldest"))...)}),
	site.Get(site.Route{Pattern: "/audit/head", Summary: "The newest signed head and what is known of the chain",
		Policy: guard.PolicyOperate, Handler: StateJSON, Answer: api.AuditState{}}),
	site.Get(site.Route{Pattern: "/audit/heads", Summary: "All signed heads, oldest first", Policy: guard.PolicyOperate,
		Handler: HeadsJSON, Params: site.Paged(), Answer: api.List[api.AuditHead]{}}),
}
