// Package account leads people in and out, and shows them their password, sessions and
// tokens; to an admin, everybody's.
package account

import (
	"errors"
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// signInForm is the sign-in page as it was sent or refused.
type signInForm struct {
	Next    string // a page of ours to go on to, or ""
	Name    string // as it was typed
	Ended   bool   // a session of this browser is over
	Issuer  bool   // signed out here and not at the issuer
	Problem string
	Refusal *auth.Refusal // more about Problem for whoever runs shardboard; nil if there is no more
}

// SignInPage is the way in. Whoever is signed in already goes on.
func SignInPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	next := s.LocalPage(r.URL.Query().Get("next"))
	if auth.From(r.Context()).ID != "" {
		site.SeeOther(w, orHome(next))
		return nil
	}
	return writeSignIn(s, w, r, http.StatusOK, signInForm{Next: next, Ended: r.URL.Query().Get("ended") == "1",
		Issuer: r.URL.Query().Get("out") == "issuer"})
}

// SignIn takes a name and a password. After a wrong one, the form keeps the name.
func SignIn(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	next := s.LocalPage(r.PostForm.Get("next"))
	cookie, _, err := s.Deps.Access.Auth.SignIn(r.Context(), auth.Credentials{
		Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.Deps.Access.Auth.ClientAddr(r), Session: auth.From(r.Context()).Session,
	})
	if err != nil {
		f := signInForm{Next: next, Name: site.Typed(r.PostForm.Get("name"), 64)}
		return s.Problem(w, site.ShownTo(r, err), &f.Problem, func(status int) error { return writeSignIn(s, w, r, status, f) })
	}
	http.SetCookie(w, cookie)
	site.SeeOther(w, orHome(next))
	return nil
}

// SignOut ends the session.
func SignOut(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	cookie, err := s.Deps.Access.Auth.SignOut(r.Context(), auth.From(r.Context()))
	if err != nil {
		return err
	}
	if cookie != nil {
		http.SetCookie(w, cookie)
	}
	// The back button must not bring back from a cache what the pages showed.
	w.Header().Set("Clear-Site-Data", `"cache"`)
	if to := s.Deps.Access.Auth.IssuerSignOut(r.Context(), auth.From(r.Context())); to != "" {
		w.Header().Set("Refresh", "0; url="+to) // no redirect, as in StartOIDC
		return site.WritePage(w, r, http.StatusOK, fromIssuerPage(bare(s, "Sign out"), to))
	}
	if auth.From(r.Context()).Method == auth.ByOIDC {
		site.SeeOther(w, "/login?out=issuer")
		return nil
	}
	site.SeeOther(w, "/login")
	return nil
}

func writeSignIn(s *site.Site, w http.ResponseWriter, r *http.Request, status int, f signInForm) error {
	a, err := auditing.SignIn(r.Context(), s.Deps.Access.Auth, s.Deps.Store.Condition())
	if err != nil {
		return err
	}
	return site.WritePage(w, r, status, signInPage(bare(s, "Sign in"), a, f))
}

// signInProblem shows the sign-in page with what went wrong: another way may work.
func signInProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error, next string) error {
	if signInOff(s, w) {
		return nil
	}
	f := signInForm{Next: next}
	if errors.As(err, &f.Refusal) && f.Refusal.Advice == "" {
		f.Refusal = nil
	}
	return s.Problem(w, site.ShownInForm(r, err), &f.Problem, func(status int) error { return writeSignIn(s, w, r, status, f) })
}

// signInOff leads home where every visitor has all rights already: the pages of
// signing in would be forms that do nothing.
func signInOff(s *site.Site, w http.ResponseWriter) bool {
	off := s.Deps.Access.Auth.Mode().Off()
	if off {
		site.SeeOther(w, "/")
	}
	return off
}

// bare is the shell of a page that shows nothing of the cluster.
func bare(s *site.Site, title string) templates.Shell {
	return templates.Shell{Title: title, Version: s.Deps.Version}
}

func orHome(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
