package audit

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// Routes of the record of who did what. Operators may read it and not only admins:
// who runs a plan at night has to see what others did, refused and stopped before.
// Viewers and support may not: it holds people's names and addresses, which their
// work does not need. On a server of several clusters an operator of the server reads of
// those on which they are an operator too, and an admin of the server of all (scope.go).
var Routes = site.Table(
	site.Question[api.List[api.AuditRecord]]{
		Route: site.Route{Pattern: "/audit", Summary: "Who did what?", Policy: guard.PolicyOperate},
		Page:  Page, OfPage: site.Takes[auditing.AuditQuery](),
		Ask: records, For: "The audit record, newest first", OfData: site.Takes[auditing.AuditListQuery](),
	},
	site.Asked(site.Route{Pattern: "/audit/head", Summary: "The newest signed head and what is known of the chain",
		Policy: guard.PolicyOperate}, chain),
	site.Asked(site.Route{Pattern: "/audit/heads", Summary: "All signed heads, oldest first", Policy: guard.PolicyOperate,
		Params: site.Takes[auditing.AuditHeadsQuery]()}, heads),
)

func records(s *site.Site, r *http.Request) (api.List[api.AuditRecord], error) {
	trail, err := trailOf(s)
	if err != nil {
		return api.List[api.AuditRecord]{}, err
	}
	scope, err := scopeOf(r.Context(), s, auth.From(r.Context()))
	if err != nil {
		return api.List[api.AuditRecord]{}, err
	}
	q, err := param.Read[auditing.AuditListQuery](r.URL.Query())
	if err != nil {
		return api.List[api.AuditRecord]{}, err
	}
	return auditing.AuditRecords(r.Context(), trail, q, scope, s.Deps.Now())
}

func heads(s *site.Site, r *http.Request) (api.List[api.AuditHead], error) {
	trail, err := trailOf(s)
	if err != nil {
		return api.List[api.AuditHead]{}, err
	}
	q, err := param.Read[auditing.AuditHeadsQuery](r.URL.Query())
	if err != nil {
		return api.List[api.AuditHead]{}, err
	}
	return auditing.AuditHeads(r.Context(), trail, q, s.Deps.Now())
}

func chain(s *site.Site, _ *http.Request) (api.AuditState, error) {
	trail, err := trailOf(s)
	if err != nil {
		return api.AuditState{}, err
	}
	return auditing.AuditState(trail.State()), nil
}
