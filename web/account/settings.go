package account

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
)

// outcome is what a form did, for the page that comes after it.
type outcome struct {
	Done    string            // it did it
	Problem string            // it did not
	Name    string            // as it was typed
	Made    *api.TokenCreated // its secret is shown this once
}

// doneTexts say what a form did. ?done= chooses one, so that an address cannot put
// words of its own on the page.
var doneTexts = map[string]string{
	"password": "Password changed. Your other sessions have ended.",
	"session":  "Session ended.",
	"token":    "Token revoked.",
	"user":     "User added.",
	"change":   "User changed. The user's sessions have ended.",
}

func doneOf(r *http.Request) outcome { return outcome{Done: doneTexts[r.URL.Query().Get("done")]} }

// SettingsPage is what somebody can see and change about themselves.
func SettingsPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writeSettings(s, w, r, http.StatusOK, doneOf(r))
}

func writeSettings(s *site.Site, w http.ResponseWriter, r *http.Request, status int, o outcome) error {
	v := s.ViewFor(r)
	a, err := auditing.Settings(r.Context(), s.Deps.Access.Auth, auth.From(r.Context()), v.Now)
	if err != nil {
		return err
	}
	choices := tokenChoices(s, auth.From(r.Context()))
	return site.WritePage(w, r, status, settingsPage(s.Shell(r, v, "settings", "Settings"), a, choices, o, v.Now))
}

// settingsProblem shows the page again with what went wrong.
func settingsProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error) error {
	var o outcome
	return s.Problem(w, site.ShownTo(r, err), &o.Problem, func(status int) error { return writeSettings(s, w, r, status, o) })
}

// ChangePassword changes one's own password.
func ChangePassword(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	in := r.PostForm
	cookie, err := s.Deps.Access.Auth.ChangePassword(r.Context(), auth.From(r.Context()), in.Get("present"), in.Get("password"))
	if err != nil {
		return settingsProblem(s, w, r, err)
	}
	http.SetCookie(w, cookie)
	site.SeeOther(w, "/settings?done=password")
	return nil
}
