package account

import (
	"net/http"

	"shardboard/internal/auth"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

// firstAdminForm is the form that creates the first admin, as it was sent or refused.
type firstAdminForm struct {
	Key, Name, Problem string
}

// FirstAdminPage asks who becomes the first admin. Whether the link is right shows
// when it is used, so that looking at it tells nothing.
func FirstAdminPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	return writeFirstAdmin(s, w, r, http.StatusOK, firstAdminForm{Key: sanitize.Truncate(r.URL.Query().Get("key"), 200)})
}

// CreateFirstAdmin creates the account and signs in.
func CreateFirstAdmin(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if signInOff(s, w) {
		return nil
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	cookie, _, err := s.Deps.Access.Auth.ClaimFirst(r.Context(), auth.First{
		Secret: r.PostForm.Get("key"), Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"),
		From: s.Deps.Access.Auth.ClientAddr(r),
	})
	if err != nil {
		f := firstAdminForm{Key: site.Typed(r.PostForm.Get("key"), 200), Name: site.Typed(r.PostForm.Get("name"), 64)}
		return s.Problem(w, site.ShownTo(r, err), &f.Problem, func(status int) error { return writeFirstAdmin(s, w, r, status, f) })
	}
	http.SetCookie(w, cookie)
	site.SeeOther(w, "/settings/users")
	return nil
}

func writeFirstAdmin(s *site.Site, w http.ResponseWriter, r *http.Request, status int, f firstAdminForm) error {
	return site.WritePage(w, r, status, firstAdminPage(bare(s, "Create the first admin"), f))
}
