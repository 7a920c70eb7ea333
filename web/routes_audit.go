package web

import (
	"net/http"

	"shardboard/internal/api"
	auditroom "shardboard/web/audit"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// auditRoutes are the record of who did what. Operators may read it and not
// only admins: who runs a plan at night has to see what others did, refused and
// stopped before. Viewers and support may not: it holds people's names and
// addresses, which their work does not need.
func auditRoutes() []site.Route {
	get := func(path, summary string, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: "GET", Pattern: api.Prefix + path, Policy: guard.PolicyOperate, Tag: site.TagAPI, Summary: summary,
			Params: params, Answer: answer, Handler: h}
	}
	shown := site.Fresh(site.Page("/audit", "Who did what?"))
	shown.Policy, shown.Handler = guard.PolicyOperate, auditroom.PageAudit
	shown.Params = append(auditFilters(), site.Query("below", "older than the record with this number"))
	return []site.Route{
		shown,
		get("/audit", "The audit record, newest first", api.List[api.AuditRecord]{}, auditroom.ApiAudit,
			site.Paged(append(auditFilters(), site.Query("order", "newest, the default, or oldest"))...)...),
		get("/audit/head", "The newest signed head and what is known of the chain", api.AuditState{}, auditroom.ApiAuditState),
		get("/audit/heads", "All signed heads, oldest first", api.List[api.AuditHead]{}, auditroom.ApiAuditHeads, site.Paged()...),
	}
}

func auditFilters() []site.Param {
	return []site.Param{
		site.Query("by", "of this principal"), site.Query("what", "this code, or a prefix that ends in a dot"), site.Query("subject", "about this"),
		site.Query("from", "at this time or later, RFC 3339 or a date in UTC"), site.Query("to", "before this time"),
	}
}
