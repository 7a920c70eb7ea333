package account

import (
	"net/http"
	"strconv"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pageSettings is what somebody keeps about themselves.
func PageSettings(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writeSettings(s, w, r, http.StatusOK, Settings{Done: doneWords(r)})
}

func writeSettings(s *site.Site, w http.ResponseWriter, r *http.Request, status int, m Settings) error {
	v, who := s.ViewFor(r), auth.From(r.Context())
	sessions, err := s.Deps.Auth.Sessions(r.Context(), who)
	if err != nil {
		return err
	}
	tokens, err := s.Deps.Auth.Tokens(r.Context(), who)
	if err != nil {
		return err
	}
	m.ID, m.Method, m.From = who.ID, methodWord(who.Method), who.From
	m.CanToken = !s.Deps.Auth.Mode().Off()
	m.CanChange = m.CanToken && (who.Method == auth.ByPassword || who.Method == auth.ByBreakGlass)
	for _, x := range sessions {
		if x.Subject == who.ID {
			m.Sessions = append(m.Sessions, sessionRow(x, v.Now))
		}
	}
	for _, x := range tokens {
		if x.Owner == who.ID {
			m.Tokens = append(m.Tokens, tokenRow(x, v.Now))
		}
	}
	m.Roles = roleOptions(who.Role, auth.Viewer)
	m.Spans = spanOptions()
	return site.WritePage(w, r, status, SettingsPage(s.Shell(r, v, "settings", "Settings"), m))
}

// settingsProblem shows the page again with what went wrong.
func settingsProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error) error {
	var m Settings
	return s.Problem(w, site.ShownTo(r, err), &m.Problem, func(status int) error { return writeSettings(s, w, r, status, m) })
}

func PostPassword(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	err := s.Deps.Auth.ChangePassword(r.Context(), auth.From(r.Context()), r.PostForm.Get("present"), r.PostForm.Get("password"))
	if err != nil {
		return settingsProblem(s, w, r, err)
	}
	site.SeeOther(w, "/settings?done=password")
	return nil
}

func PostRevokeSession(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return revoke(s, w, r, "session", s.Deps.Auth.Revoke)
}

func PostRevokeToken(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return revoke(s, w, r, "token", s.Deps.Auth.RevokeToken)
}

func revoke(s *site.Site, w http.ResponseWriter, r *http.Request, what string, do revokeFunc) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	if err := do(r.Context(), auth.From(r.Context()), id); err != nil {
		return err
	}
	to := "/settings"
	if r.PostForm.Get("back") == "users" {
		to = "/settings/users"
	}
	site.SeeOther(w, to+"?done="+what)
	return nil
}

// postToken makes a token and answers with its secret, once: this page is not
// led to by a redirect because an address must never hold a secret.
func PostToken(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 1 || days > 365 {
		return fault.New(fault.Invalid, "A token lasts 1 to 365 days.")
	}
	secret, made, err := s.Deps.Auth.CreateToken(r.Context(), auth.From(r.Context()), auth.NewToken{
		Name: r.PostForm.Get("name"), Role: auth.Role(r.PostForm.Get("role")), Expires: s.Deps.Now().Add(time.Duration(days) * 24 * time.Hour),
	})
	if err != nil {
		return settingsProblem(s, w, r, err)
	}
	return writeSettings(s, w, r, http.StatusOK, Settings{Made: &MadeToken{Name: made.Name, Secret: secret}})
}

// roleOptions are the roles up to the greatest.
func roleOptions(greatest, selected auth.Role) []templates.Option {
	var out []templates.Option
	for _, role := range auth.Roles() {
		if greatest.Includes(role) {
			out = append(out, templates.Option{Value: string(role), Text: role.Label(), Selected: role == selected})
		}
	}
	return out
}

func spanOptions() []templates.Option {
	var out []templates.Option
	for _, days := range []int{7, 30, 90, 365} {
		n := strconv.Itoa(days)
		out = append(out, templates.Option{Value: n, Text: n + " days", Selected: days == 90})
	}
	return out
}

func sessionRow(x auth.Session, now time.Time) SessionRow {
	return SessionRow{
		ID: x.ID, Who: sanitize.Truncate(x.Name, 80), WhoID: site.IssuersID(x.Subject, x.Name), Role: x.Role.Label(),
		Method: methodWord(x.Method), From: sanitize.Truncate(x.From, 60),
		Created: templates.Ago(x.Created, now), Used: templates.Ago(x.Used, now), Ends: day(x.Ends), Current: x.Current,
	}
}

func tokenRow(x auth.Token, now time.Time) TokenRow {
	row := TokenRow{
		ID: x.ID, Name: sanitize.Truncate(x.Name, 80), Role: x.Role.Label(), Owner: sanitize.Truncate(x.Owner, 80),
		Created: templates.Ago(x.Created, now), Used: templates.Ago(x.Used, now), Ends: day(x.Expires),
	}
	if x.OwnerName != "" {
		row.Owner, row.OwnerID = sanitize.Truncate(x.OwnerName, 80), site.IssuersID(x.Owner, x.OwnerName)
	}
	switch {
	case !x.Revoked.IsZero():
		row.Ends, row.Ended = "revoked "+day(x.Revoked), true
	case !x.Expires.After(now):
		row.Ends, row.Ended = "expired "+day(x.Expires), true
	}
	return row
}

// day is a date in UTC.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
