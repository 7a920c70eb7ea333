package account

import (
	"net/http"

	"shardboard/web/site"
)

// StartOIDC leads to the issuer. It is a POST, so that no link or picture of another
// site signs anybody in: it takes a click on our own page. The answer is a page that
// goes on by itself and not a redirect, because the policy form-action 'self' covers
// where a form is redirected to, there and at every stop on the way behind it.
func StartOIDC(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	next := s.LocalPage(r.PostForm.Get("next"))
	to, err := s.Deps.Access.Auth.StartOIDC(w, r, next)
	if err != nil {
		return signInProblem(s, w, r, err, next)
	}
	w.Header().Set("Refresh", "0; url="+to)
	return site.WritePage(w, r, http.StatusOK, toIssuerPage(bare(s, "Single sign-on"), to))
}

// FinishOIDC is where the issuer sends people back to.
func FinishOIDC(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	to, err := s.Deps.Access.Auth.FinishOIDC(w, r)
	if err != nil {
		return signInProblem(s, w, r, err, "")
	}
	site.SeeOther(w, orHome(s.LocalPage(to)))
	return nil
}
