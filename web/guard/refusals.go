package guard

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// auditAccessRefused is a request that would have changed something and was
// refused before its handler.
const AuditAccessRefused = "access.refused"

// changing tells whether a route changes something that others have to be able
// to read about.
func (rt Rule) changing() bool {
	return !safe(rt.Method) && (rt.Policy == PolicySelf || rt.Policy == PolicyOperate || rt.Policy == PolicyAdmin)
}

// noteRole records that somebody's role does not do.
func (g *Guard) noteRole(r *http.Request, rt Rule, who auth.Principal, need auth.Role) {
	if !rt.changing() || who.ID == "" {
		return
	}
	g.note(rt, who, chi.URLParam(r, "id"), map[string]string{"why": "role", "need": string(need), "have": string(who.Role)})
}

// refuseForeign answers a request that another site's page has made. Who is
// signed in at that browser is not looked up: they did not ask.
func (g *Guard) refuseForeign(w http.ResponseWriter, r *http.Request) {
	if rt, subject := g.Site.RuleAt(r.Method, r.URL.EscapedPath()); rt.changing() {
		g.note(rt, auth.Principal{From: g.Auth.ClientAddr(r)}, subject, map[string]string{"why": "cross-site"})
	}
	g.warnOrigin(r)
	g.Site.Fail(w, r, fault.New(fault.Forbidden,
		"This request came from another site and was refused. If it did not, the log of the server says which address it expects."))
}

func (g *Guard) note(rt Rule, who auth.Principal, subject string, details map[string]string) {
	details["route"] = rt.Method + " " + rt.Pattern
	if !store.IsPlanOrRunID(subject) {
		subject = "" // whoever is refused does not choose what the record holds
	}
	g.Refusals.Add(store.AuditEntry{Cluster: g.Cluster(), At: g.Now(), By: who.ID, Via: string(who.Method), From: who.From,
		What: AuditAccessRefused, Subject: subject, Outcome: "refused", Details: details})
}
