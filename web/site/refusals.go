package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/web/guard"
)

// auditAccessRefused is a request that would have changed something and was
// refused before its handler.
const AuditAccessRefused = "access.refused"

// changing tells whether a route changes something that others have to be able
// to read about.
func (rt Route) changing() bool {
	return !safe(rt.Method) && (rt.Policy == guard.PolicySelf || rt.Policy == guard.PolicyOperate || rt.Policy == guard.PolicyAdmin)
}

// changingRoutes are those by method and pattern.
func changingRoutes(table []Route) map[string]Route {
	out := map[string]Route{}
	for _, rt := range table {
		if rt.changing() {
			out[rt.Method+" "+rt.Pattern] = rt
		}
	}
	return out
}

// noteRole records that somebody's role does not do.
func (s *Site) noteRole(r *http.Request, rt Route, who auth.Principal, need auth.Role) {
	if !rt.changing() || who.ID == "" {
		return
	}
	s.note(rt, who, chi.URLParam(r, "id"), map[string]string{"why": "role", "need": string(need), "have": string(who.Role)})
}

// refuseForeign answers a request that another site's page has made. Who is
// signed in at that browser is not looked up: they did not ask.
func (s *Site) refuseForeign(w http.ResponseWriter, r *http.Request) {
	match := chi.NewRouteContext()
	if s.Mux.Match(match, r.Method, r.URL.EscapedPath()) {
		if rt, ok := s.changing[r.Method+" "+match.RoutePattern()]; ok {
			s.note(rt, auth.Principal{From: s.Deps.Auth.ClientAddr(r)}, match.URLParam("id"), map[string]string{"why": "cross-site"})
		}
	}
	s.Fail(w, r, fault.New(fault.Forbidden, "This request came from another site and was refused."))
}

func (s *Site) note(rt Route, who auth.Principal, subject string, details map[string]string) {
	details["route"] = rt.Method + " " + rt.Pattern
	if !answer.RecordName(subject) {
		subject = "" // whoever is refused does not choose what the record holds
	}
	s.Deps.Refusals.Add(store.AuditEntry{Cluster: s.Deps.Watcher.Table().ClusterID, At: s.Deps.Now(), By: who.ID, Via: string(who.Method), From: who.From,
		What: AuditAccessRefused, Subject: subject, Outcome: "refused", Details: details})
}
