package site

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/auth"
	"shardboard/internal/connlimit"
	"shardboard/internal/fault"
	"shardboard/web/guard"
	"shardboard/web/parts"
)

// guarded is the one place where a route's policy is enforced: before its
// handler, before its input is read. Who is asking goes into the context.
func (s *Site) guarded(rt Route, next http.HandlerFunc) http.HandlerFunc {
	need, known := rt.Policy.Needs()
	if !known {
		panic("web: " + rt.Method + " " + rt.Pattern + " has no policy")
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if rt.Policy == guard.PolicyOpen && rt.Tag == TagOperations || rt.Policy == guard.PolicyNear && !s.Deps.Exposed {
			next(w, r)
			return
		}
		who, err := s.identify(w, r)
		loggedAs(r.Context(), who)
		if who.ID != "" {
			connlimit.SignedIn(r.Context())
		}
		r = r.WithContext(auth.With(r.Context(), who))
		switch {
		case err != nil && need != "":
			s.Fail(w, r, err)
		case !Allowed(who, need):
			s.noteRole(r, rt, who, need)
			s.Refuse(w, r, who, need)
		default:
			if wait := s.Limits.Wait(who, rt); wait > 0 {
				s.Fail(w, r, &auth.TooMany{Wait: wait})
				return
			}
			next(w, r)
		}
	}
}

func Allowed(who auth.Principal, need auth.Role) bool { return need == "" || who.May(need) }

// refuse answers who may not: scripts by status, people by the way to sign in
// or by a page that names the role they lack.
func (s *Site) Refuse(w http.ResponseWriter, r *http.Request, who auth.Principal, need auth.Role) {
	switch {
	case who.ID != "":
		s.Fail(w, r, fault.New(fault.Forbidden, "%s", fmt.Sprintf("This needs the role %s. You have the role %s; an admin can change that.", parts.RoleWord(need), parts.RoleWord(who.Role))))
	case wantsJSON(r):
		challenge, text := `Bearer realm="shardboard"`, "Nobody is signed in, or the session has ended. Send a token: Authorization: Bearer …"
		if sentToken(r) {
			challenge, text = challenge+`, error="invalid_token"`, "The token that was sent does not open anything: it is wrong, expired or revoked, or its owner is disabled. Make another one under Settings, or ask an admin."
		}
		w.Header().Set("WWW-Authenticate", challenge)
		s.Fail(w, r, &StatusError{Status: http.StatusUnauthorized, Text: text})
	default:
		w.Header().Set("Location", s.loginURL(r))
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
func (s *Site) loginURL(r *http.Request) string {
	q := url.Values{}
	back := r.URL.EscapedPath()
	if r.URL.RawQuery != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		back += "?" + r.URL.RawQuery
	}
	if back = s.LocalPage(back); back != "" && back != "/" {
		q.Set("next", back)
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
	return len(r.CookiesNamed("shardboard"))+len(r.CookiesNamed("__Host-shardboard")) > 0
}

// localPage gives back an address when it is the address of one of our own
// pages, and "" otherwise. Not a list of what is dangerous but of what is
// there: the path must be one that the router has a page for.
func (s *Site) LocalPage(address string) string {
	if len(address) > maxNext || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") {
		return ""
	}
	for i := range len(address) { // browsers drop some controls and turn \ into /
		if c := address[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return ""
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return ""
		}
	}
	path := u.EscapedPath()
	match := chi.NewRouteContext()
	if !s.Mux.Match(match, http.MethodGet, path) || !s.pages[match.RoutePattern()] {
		return ""
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// maxNext bounds the way back in the address of the sign-in page.
const maxNext = 2048
