package account

import (
	"net/http"

	"shardboard/internal/auth"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pageLogin is the way in. Who is in already goes on.
func PageLogin(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	next := s.LocalPage(r.URL.Query().Get("next"))
	if auth.From(r.Context()).ID != "" {
		site.SeeOther(w, orHome(next))
		return nil
	}
	m := Login{Next: next}
	if r.URL.Query().Get("ended") == "1" {
		m.Note = "Your session has ended. Sign in to go on where you were."
	}
	return writeLogin(s, w, r, http.StatusOK, m)
}

// postLogin signs in by name and password. A wrong one keeps the name.
func PostLogin(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	next := s.LocalPage(r.PostForm.Get("next"))
	cookie, _, err := s.Deps.Auth.SignIn(r.Context(), auth.Credentials{
		Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.Deps.Auth.ClientAddr(r), Session: auth.From(r.Context()).Session,
	})
	if err != nil {
		m := Login{Next: next, Name: site.Typed(r.PostForm.Get("name"), 64)}
		return s.Problem(w, site.ShownTo(r, err), &m.Problem, func(status int) error { return writeLogin(s, w, r, status, m) })
	}
	http.SetCookie(w, cookie)
	site.SeeOther(w, orHome(next))
	return nil
}

func writeLogin(s *site.Site, w http.ResponseWriter, r *http.Request, status int, m Login) error {
	offers, err := s.Deps.Auth.Offers(r.Context())
	if err != nil {
		return err
	}
	m.Password, m.First, m.ReadOnly = offers.Password, offers.First, s.LoginNote(offers)
	m.OIDC = offers.OIDC
	m.Proxy = s.Deps.Auth.Mode().Has(auth.ModeProxy)
	return site.WritePage(w, r, status, LoginPage(bare(s, "Sign in"), m))
}

// signInOff leads home where everybody is in already: the pages of signing in
// would be forms that do nothing.
func signInOff(s *site.Site, w http.ResponseWriter) bool {
	off := s.Deps.Auth.Mode().Off()
	if off {
		site.SeeOther(w, "/")
	}
	return off
}

// bare is the shell of a page that shows nothing of the cluster.
func bare(s *site.Site, title string) templates.Shell {
	return templates.Shell{Title: title, Version: s.Deps.Version}
}

// pageFirst asks who becomes the first admin. Whether the link is right shows
// when it is used, so that looking at it tells nothing.
func PageFirst(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	m := First{Key: sanitize.Truncate(r.URL.Query().Get("key"), 200)}
	return site.WritePage(w, r, http.StatusOK, FirstPage(bare(s, "Make the first admin"), m))
}

func PostFirst(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	cookie, _, err := s.Deps.Auth.ClaimFirst(r.Context(), auth.First{
		Secret: r.PostForm.Get("key"), Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.Deps.Auth.ClientAddr(r),
	})
	if err != nil {
		m := First{Key: site.Typed(r.PostForm.Get("key"), 200), Name: site.Typed(r.PostForm.Get("name"), 64)}
		return s.Problem(w, site.ShownTo(r, err), &m.Problem, func(status int) error {
			return site.WritePage(w, r, status, FirstPage(bare(s, "Make the first admin"), m))
		})
	}
	http.SetCookie(w, cookie)
	site.SeeOther(w, "/settings/users")
	return nil
}

// postOIDC leads to the issuer. It is a POST, so that no link or picture of
// another site signs anybody in: it takes a click on our own page. The answer is
// a page that goes on by itself and not a redirect, because the policy
// form-action 'self' covers where a form is redirected to, there and at every
// stop on the way behind it.
func PostOIDC(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	next := s.LocalPage(r.PostForm.Get("next"))
	to, err := s.Deps.Auth.StartOIDC(w, r, next)
	if err != nil {
		return loginProblem(s, w, r, err, next)
	}
	w.Header().Set("Refresh", "0; url="+to)
	return site.WritePage(w, r, http.StatusOK, LeavePage(bare(s, "To single sign-on"), to))
}

func FinishOIDC(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	to, err := s.Deps.Auth.FinishOIDC(w, r)
	if err != nil {
		return loginProblem(s, w, r, err, "")
	}
	site.SeeOther(w, orHome(s.LocalPage(to)))
	return nil
}

// loginProblem shows the sign-in page with what went wrong: another way may
// work.
func loginProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error, next string) error {
	if signInOff(s, w) {
		return nil
	}
	m := Login{Next: next, Refused: refusedModel(err)}
	return s.Problem(w, site.ShownInForm(r, err), &m.Problem, func(status int) error { return writeLogin(s, w, r, status, m) })
}

func PostLogout(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	cookie, err := s.Deps.Auth.SignOut(r.Context(), auth.From(r.Context()))
	if err != nil {
		return err
	}
	if cookie != nil {
		http.SetCookie(w, cookie)
	}
	// What the page showed is not to come back from any cache by the back button.
	w.Header().Set("Clear-Site-Data", `"cache"`)
	site.SeeOther(w, "/login")
	return nil
}

func orHome(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
