package guard

import (
	"net/http"
	"net/url"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/connlimit"
	"shardboard/internal/fault"
)

// Guarded is the one place where a route's policy is enforced: before its
// handler, before its input is read. Who is asking goes into the context.
func (g *Guard) Guarded(rt Rule, next http.HandlerFunc) http.HandlerFunc {
	need, known := rt.Policy.Needs()
	if !known {
		panic("web: " + rt.Method + " " + rt.Pattern + " has no policy")
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if rt.Unasked || rt.Policy == PolicyNear && !g.Exposed {
			next(w, r)
			return
		}
		who, err := g.identify(w, r)
		noted(r.Context(), who)
		if who.ID != "" {
			connlimit.SignedIn(r.Context())
		}
		if g.Sees != nil && !g.Sees(who) {
			g.Nowhere.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(auth.With(r.Context(), who))
		switch {
		case err != nil && need != "":
			g.Site.Fail(w, r, err)
		case !Allowed(who, need):
			g.noteRole(r, rt, who, need)
			g.Refuse(w, r, who, need)
		default:
			if wait := g.Limits.Wait(who, rt); wait > 0 {
				g.Site.Fail(w, r, &auth.TooMany{Wait: wait})
				return
			}
			next(w, r)
		}
	}
}

// Allowed tells whether somebody's role is enough for what a policy needs; "" needs none.
func Allowed(who auth.Principal, need auth.Role) bool { return need == "" || who.May(need) }

// Lacks is the failure of somebody whose role does not do.
func Lacks(who auth.Principal, need auth.Role) error {
	switch {
	case who.Clusters != nil && who.Role == auth.ClustersOnly: // and not on one of its clusters
		return OtherCluster(who)
	case who.Role == auth.ClustersOnly:
		return fault.New(fault.Forbidden,
			"This needs the role %s on the server. You have roles on single clusters only; an admin can change that.",
			need.Label())
	}
	return fault.New(
		fault.Forbidden,
		"This needs the role %s. You have the role %s; an admin can change that.",
		need.Label(),
		who.Role.Label(),
	)
}

// Refuse answers who may not: scripts by status, people by the way to sign in
// or by a page that names the role they lack.
func (g *Guard) Refuse(w http.ResponseWriter, r *http.Request, who auth.Principal, need auth.Role) {
	switch {
	case who.ID != "":
		g.Site.Fail(w, r, Lacks(who, need))
	case WantsJSON(r):
		challenge, text := `Bearer realm="shardboard"`, "You are not signed in, or the session has ended. Send a token: Authorization: Bearer …"
		if sentToken(r) {
			challenge, text = challenge+`, error="invalid_token"`, "The token is not valid: "+
				"it is wrong, expired or revoked, or its owner is disabled. Create another one under Settings, or ask an admin."
		}
		w.Header().Set("WWW-Authenticate", challenge)
		g.Site.FailWith(w, r, http.StatusUnauthorized, text)
	default:
		w.Header().Set("Location", g.loginURL(r))
		w.WriteHeader(http.StatusSeeOther)
	}
}

// sentToken tells whether a request came with a token. That it is wrong, and
// not why, is told to whoever has it in hand.
func sentToken(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// loginURL is where nobody is sent, with the way back when there is one.
func (g *Guard) loginURL(r *http.Request) string {
	q := url.Values{}
	back := r.URL.EscapedPath()
	if r.URL.RawQuery != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		back += "?" + r.URL.RawQuery
	}
	if back = g.Site.LocalPage(back); back != "" {
		if back = g.Site.Address(back); back != "/" {
			q.Set("next", back)
		}
	}
	if hadSession(r) {
		q.Set("ended", "1") // there was a session; it is over
	}
	if len(q) == 0 {
		return "/login"
	}
	return "/login?" + q.Encode()
}

// hadSession tells whether the browser still has a cookie of ours. It is looked
// at after nobody was found behind it, and only for the words on a page.
func hadSession(r *http.Request) bool {
	for _, name := range []string{"shardboard", "__Host-shardboard", "__Secure-shardboard"} {
		if len(r.CookiesNamed(name)) > 0 {
			return true
		}
	}
	return false
}

// OtherCluster is the failure of a token that is bound to clusters, anywhere but on these.
func OtherCluster(who auth.Principal) error {
	names := who.BoundNames()
	if len(names) == 0 {
		return fault.New(fault.Forbidden, "This token is bound to no cluster. Create another one under Settings.")
	}
	below := make([]string, len(names))
	for i, name := range names {
		below[i] = "/c/" + name + "/"
	}
	return fault.New(fault.Forbidden, "This token is bound to %s: it may do nothing elsewhere. Ask below %s, or create a token for this "+
		"under Settings.", strings.Join(names, ", "), strings.Join(below, " or "))
}
