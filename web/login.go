package web

import (
	"errors"
	"net/http"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageLogin is the way in. Who is in already goes on.
func (s *Site) pageLogin(w http.ResponseWriter, r *http.Request) error {
	next := s.localPage(r.URL.Query().Get("next"))
	if auth.From(r.Context()).ID != "" {
		seeOther(w, orHome(next))
		return nil
	}
	m := templates.Login{Next: next}
	if r.URL.Query().Get("ended") == "1" {
		m.Note = words.T("login.ended")
	}
	return s.writeLogin(w, r, http.StatusOK, m)
}

// postLogin signs in by name and password. A wrong one keeps the name.
func (s *Site) postLogin(w http.ResponseWriter, r *http.Request) error {
	if s.signInOff(w) {
		return nil
	}
	if err := parseForm(r); err != nil {
		return err
	}
	next := s.localPage(r.PostForm.Get("next"))
	cookie, _, err := s.deps.Auth.SignIn(r.Context(), auth.Credentials{
		Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.deps.Auth.ClientAddr(r), Session: auth.From(r.Context()).Session,
	})
	if err != nil {
		m := templates.Login{Next: next, Name: typed(r.PostForm.Get("name"), 64)}
		return s.problem(w, shownTo(r, err), &m.Problem, func(status int) error { return s.writeLogin(w, r, status, m) })
	}
	http.SetCookie(w, cookie)
	seeOther(w, orHome(next))
	return nil
}

func (s *Site) writeLogin(w http.ResponseWriter, r *http.Request, status int, m templates.Login) error {
	offers, err := s.deps.Auth.Offers(r.Context())
	if err != nil {
		return err
	}
	m.Password, m.First, m.ReadOnly = offers.Password, offers.First, s.loginNote(offers)
	m.OIDC = offers.OIDC
	m.Proxy = s.deps.Auth.Mode().Has(auth.ModeProxy)
	return writePage(w, r, status, templates.LoginPage(s.bare(words.T("login.title")), m))
}

// signInOff leads home where everybody is in already: the pages of signing in
// would be forms that do nothing.
func (s *Site) signInOff(w http.ResponseWriter) bool {
	off := s.deps.Auth.Mode().Off()
	if off {
		seeOther(w, "/")
	}
	return off
}

// bare is the shell of a page that shows nothing of the cluster.
func (s *Site) bare(title string) templates.Shell {
	return templates.Shell{Title: title, Version: s.deps.Version}
}

// pageFirst asks who becomes the first admin. Whether the link is right shows
// when it is used, so that looking at it tells nothing.
func (s *Site) pageFirst(w http.ResponseWriter, r *http.Request) error {
	if s.signInOff(w) {
		return nil
	}
	m := templates.First{Key: sanitize.Truncate(r.URL.Query().Get("key"), 200)}
	return writePage(w, r, http.StatusOK, templates.FirstPage(s.bare(words.T("first.title")), m))
}

func (s *Site) postFirst(w http.ResponseWriter, r *http.Request) error {
	if s.signInOff(w) {
		return nil
	}
	if err := parseForm(r); err != nil {
		return err
	}
	cookie, _, err := s.deps.Auth.ClaimFirst(r.Context(), auth.First{
		Secret: r.PostForm.Get("key"), Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.deps.Auth.ClientAddr(r),
	})
	if err != nil {
		m := templates.First{Key: typed(r.PostForm.Get("key"), 200), Name: typed(r.PostForm.Get("name"), 64)}
		return s.problem(w, shownTo(r, err), &m.Problem, func(status int) error {
			return writePage(w, r, status, templates.FirstPage(s.bare(words.T("first.title")), m))
		})
	}
	http.SetCookie(w, cookie)
	seeOther(w, "/settings/users")
	return nil
}

// postOIDC leads to the issuer. It is a POST, so that no link or picture of
// another site signs anybody in: it takes a click on our own page. The answer is
// a page that goes on by itself and not a redirect, because the policy
// form-action 'self' covers where a form is redirected to, there and at every
// stop on the way behind it.
func (s *Site) postOIDC(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	next := s.localPage(r.PostForm.Get("next"))
	to, err := s.deps.Auth.StartOIDC(w, r, next)
	if err != nil {
		return s.loginProblem(w, r, err, next)
	}
	w.Header().Set("Refresh", "0; url="+to)
	return writePage(w, r, http.StatusOK, templates.LeavePage(s.bare(words.T("leave.title")), to))
}

func (s *Site) finishOIDC(w http.ResponseWriter, r *http.Request) error {
	to, err := s.deps.Auth.FinishOIDC(w, r)
	if err != nil {
		return s.loginProblem(w, r, err, "")
	}
	seeOther(w, orHome(s.localPage(to)))
	return nil
}

// loginProblem shows the sign-in page with what went wrong: another way may
// work.
func (s *Site) loginProblem(w http.ResponseWriter, r *http.Request, err error, next string) error {
	if s.signInOff(w) {
		return nil
	}
	m := templates.Login{Next: next, Refused: refusedModel(err)}
	return s.problem(w, shownInForm(r, err), &m.Problem, func(status int) error { return s.writeLogin(w, r, status, m) })
}

func (s *Site) postLogout(w http.ResponseWriter, r *http.Request) error {
	cookie, err := s.deps.Auth.SignOut(r.Context(), auth.From(r.Context()))
	if err != nil {
		return err
	}
	if cookie != nil {
		http.SetCookie(w, cookie)
	}
	// What the page showed is not to come back from any cache by the back button.
	w.Header().Set("Clear-Site-Data", `"cache"`)
	seeOther(w, "/login")
	return nil
}

// problem turns a refusal into the words of the form that caused it; what is
// nobody's fault but ours is a failed request.
func (s *Site) problem(w http.ResponseWriter, err error, text *string, again func(status int) error) error {
	if wait, ok := waitOf(err); ok {
		w.Header().Set("Retry-After", wholeSeconds(wait))
		*text = words.T("access.tooOften", "seconds", wholeSeconds(wait))
		return again(http.StatusTooManyRequests)
	}
	if busy := (*auth.Busy)(nil); errors.As(err, &busy) {
		w.Header().Set("Retry-After", wholeSeconds(busy.Wait))
		*text = words.T("access.busy", "seconds", wholeSeconds(busy.Wait))
		return again(http.StatusServiceUnavailable)
	}
	kind := fault.Of(err)
	if kind == fault.Internal {
		return err
	}
	*text = s.problemText(w, err)
	return again(kind.HTTPStatus())
}

// typed is what somebody typed, fit to be typed again.
func typed(s string, most int) string {
	s, err := checkText("", sanitize.Truncate(s, most))
	if err != nil {
		return ""
	}
	return s
}

func orHome(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

func seeOther(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
