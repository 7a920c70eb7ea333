package web

import (
	"net/http"

	"shardboard/internal/api"
)

// auditRoutes are the record of who did what. Operators may read it and not
// only admins: who runs a plan at night has to see what others did, refused and
// stopped before. Viewers and support may not: it holds people's names and
// addresses, which their work does not need.
func auditRoutes() []Route {
	get := func(path, summary string, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: "GET", Pattern: api.Prefix + path, Policy: PolicyOperate, Tag: tagAPI, Summary: summary,
			Params: params, Answer: answer, handler: h}
	}
	shown := fresh(page("/audit", "Who did what?"))
	shown.Policy, shown.handler = PolicyOperate, (*Site).pageAudit
	shown.Params = append(auditFilters(), query("below", "older than the record with this number"))
	return []Route{
		shown,
		get("/audit", "The audit record, newest first", api.List[api.AuditRecord]{}, (*Site).apiAudit,
			paged(append(auditFilters(), query("order", "newest, the default, or oldest"))...)...),
		get("/audit/head", "The newest signed head and what is known of the chain", api.AuditState{}, (*Site).apiAuditState),
		get("/audit/heads", "All signed heads, oldest first", api.List[api.AuditHead]{}, (*Site).apiAuditHeads, paged()...),
	}
}

func auditFilters() []Param {
	return []Param{
		query("by", "of this principal"), query("what", "this code, or a prefix that ends in a dot"), query("subject", "about this"),
		query("from", "at this time or later, RFC 3339 or a date in UTC"), query("to", "before this time"),
	}
}
