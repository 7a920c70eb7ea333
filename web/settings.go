package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageSettings is what somebody keeps about themselves.
func (s *Site) pageSettings(w http.ResponseWriter, r *http.Request) error {
	return s.writeSettings(w, r, http.StatusOK, templates.Settings{Done: doneWords(r)})
}

func (s *Site) writeSettings(w http.ResponseWriter, r *http.Request, status int, m templates.Settings) error {
	v, who := s.viewFor(r), auth.From(r.Context())
	sessions, err := s.deps.Auth.Sessions(r.Context(), who)
	if err != nil {
		return err
	}
	tokens, err := s.deps.Auth.Tokens(r.Context(), who)
	if err != nil {
		return err
	}
	m.ID, m.Method, m.From = who.ID, methodWord(who.Method), who.From
	m.CanToken = !s.deps.Auth.Mode().Off()
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
	return writePage(w, r, status, templates.SettingsPage(s.shell(r, v, "settings", words.T("settings.title")), m))
}

// settingsProblem shows the page again with what went wrong.
func (s *Site) settingsProblem(w http.ResponseWriter, r *http.Request, err error) error {
	var m templates.Settings
	return s.problem(w, shownTo(r, err), &m.Problem, func(status int) error { return s.writeSettings(w, r, status, m) })
}

func (s *Site) postPassword(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	err := s.deps.Auth.ChangePassword(r.Context(), auth.From(r.Context()), r.PostForm.Get("present"), r.PostForm.Get("password"))
	if err != nil {
		return s.settingsProblem(w, r, err)
	}
	seeOther(w, "/settings?done=password")
	return nil
}

func (s *Site) postRevokeSession(w http.ResponseWriter, r *http.Request) error {
	return s.revoke(w, r, "session", s.deps.Auth.Revoke)
}

func (s *Site) postRevokeToken(w http.ResponseWriter, r *http.Request) error {
	return s.revoke(w, r, "token", s.deps.Auth.RevokeToken)
}

func (s *Site) revoke(w http.ResponseWriter, r *http.Request, what string, do revokeFunc) error {
	if err := parseForm(r); err != nil {
		return err
	}
	id, err := pathText(r, "id")
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
	seeOther(w, to+"?done="+what)
	return nil
}

// postToken makes a token and answers with its secret, once: this page is not
// led to by a redirect because an address must never hold a secret.
func (s *Site) postToken(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 1 || days > 365 {
		return fault.New(fault.Invalid, "A token lasts 1 to 365 days.")
	}
	secret, made, err := s.deps.Auth.CreateToken(r.Context(), auth.From(r.Context()), auth.NewToken{
		Name: r.PostForm.Get("name"), Role: auth.Role(r.PostForm.Get("role")), Expires: s.deps.Now().Add(time.Duration(days) * 24 * time.Hour),
	})
	if err != nil {
		return s.settingsProblem(w, r, err)
	}
	return s.writeSettings(w, r, http.StatusOK, templates.Settings{Made: &templates.MadeToken{Name: made.Name, Secret: secret}})
}

// doneWords are those of ?done=; an address cannot put words of its own there.
func doneWords(r *http.Request) string {
	if code := r.URL.Query().Get("done"); words.Has("done." + code) {
		return words.T("done." + code)
	}
	return ""
}

// methodWord is how somebody was known.
func methodWord(m auth.Method) string { return words.Code("signedIn", string(m), nil) }

// roleOptions are the roles up to the greatest.
func roleOptions(greatest, selected auth.Role) []templates.Option {
	var out []templates.Option
	for _, role := range auth.Roles() {
		if greatest.Includes(role) {
			out = append(out, templates.Option{Value: string(role), Text: roleWord(role), Selected: role == selected})
		}
	}
	return out
}

func spanOptions() []templates.Option {
	var out []templates.Option
	for _, days := range []int{7, 30, 90, 365} {
		n := strconv.Itoa(days)
		out = append(out, templates.Option{Value: n, Text: words.T("token.days", "n", n), Selected: days == 90})
	}
	return out
}

func sessionRow(x auth.Session, now time.Time) templates.SessionRow {
	return templates.SessionRow{
		ID: x.ID, Who: sanitize.Truncate(x.Name, 80), WhoID: issuersID(x.Subject, x.Name), Role: roleWord(x.Role), Method: methodWord(x.Method), From: sanitize.Truncate(x.From, 60),
		Created: templates.Ago(x.Created, now), Used: templates.Ago(x.Used, now), Ends: day(x.Ends), Current: x.Current,
	}
}

// issuersID is what an issuer calls somebody who came by OIDC. It stands beside the
// name: two people can have the same name, and one can have several in time. ""
// where it says nothing new.
func issuersID(principal, name string) string {
	parts := strings.SplitN(principal, ":", 3)
	if len(parts) != 3 || parts[0] != "oidc" || parts[2] == name {
		return ""
	}
	return sanitize.Truncate(parts[2], 80)
}

func tokenRow(x auth.Token, now time.Time) templates.TokenRow {
	row := templates.TokenRow{
		ID: x.ID, Name: sanitize.Truncate(x.Name, 80), Role: roleWord(x.Role), Owner: sanitize.Truncate(x.Owner, 80),
		Created: templates.Ago(x.Created, now), Used: templates.Ago(x.Used, now), Ends: day(x.Expires),
	}
	if x.OwnerName != "" {
		row.Owner, row.OwnerID = sanitize.Truncate(x.OwnerName, 80), issuersID(x.Owner, x.OwnerName)
	}
	switch {
	case !x.Revoked.IsZero():
		row.Ends, row.Ended = words.T("token.revoked", "at", day(x.Revoked)), true
	case !x.Expires.After(now):
		row.Ends, row.Ended = words.T("token.expired", "at", day(x.Expires)), true
	}
	return row
}

// day is a date in UTC.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
