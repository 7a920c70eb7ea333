// Package audit shows the record of who did what, and whether anybody changed it.
package audit

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/param"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page shows who did what, newest first.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	trail, err := trailOf(s)
	if err != nil {
		return err
	}
	q, err := param.Read[auditing.AuditQuery](r.URL.Query())
	if err != nil {
		return err
	}
	scope, err := scopeOf(r.Context(), s, auth.From(r.Context()))
	if err != nil {
		return err
	}
	a, err := auditing.Audit(r.Context(), trail, q, scope)
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	return site.WritePage(w, r, http.StatusOK, page(s.Shell(r, v, "audit", "Audit"), a, q, v.Now))
}

func trailOf(s *site.Site) (auditing.AuditTrail, error) {
	if s.Deps.Audit.Trail == nil {
		return nil, fault.New(fault.Unavailable, "No audit record is kept here.")
	}
	return s.Deps.Audit.Trail, nil
}

// kinds are the choices of the filter: beginnings of codes.
var kinds = [...]templates.Option{
	{Value: "", Text: "any"},
	{Value: "login.", Text: "sign-in"},
	{Value: "session.", Text: "sessions"},
	{Value: "user.", Text: "users"},
	{Value: "token.", Text: "tokens"},
	{Value: "survey.", Text: "surveys"},
	{Value: "advice.", Text: "advice"},
	{Value: "alert.", Text: "alerts"},
	{Value: "plan.", Text: "plans"},
	{Value: "run.", Text: "runs"},
	{Value: "access.", Text: "refused requests"},
	{Value: "data.", Text: "data directory"},
	{Value: "audit.", Text: "audit record"},
}

// kindOptions are the choices with the present one selected. A code that somebody
// typed into the address is one more.
func kindOptions(what string) []templates.Option {
	var out []templates.Option
	found := false
	for _, k := range kinds {
		k.Selected = k.Value == what
		found = found || k.Selected
		out = append(out, k)
	}
	if !found {
		out = append(out, templates.Option{Value: what, Text: sanitize.Truncate(what, 60), Selected: true})
	}
	return out
}
