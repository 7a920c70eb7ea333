package web

import (
	"context"
	"net/http"
	"net/url"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/templates"
	"shardboard/web/words"
)

type revokeFunc = func(ctx context.Context, by auth.Principal, id string) error

// pageUsers is everybody: who may come in, and who is in.
func (s *Site) pageUsers(w http.ResponseWriter, r *http.Request) error {
	return s.writeUsers(w, r, http.StatusOK, templates.Users{Done: doneWords(r)})
}

func (s *Site) writeUsers(w http.ResponseWriter, r *http.Request, status int, m templates.Users) error {
	v, who := s.viewFor(r), auth.From(r.Context())
	users, err := s.deps.Auth.Users(r.Context(), who)
	if err != nil {
		return err
	}
	sessions, err := s.deps.Auth.Sessions(r.Context(), who)
	if err != nil {
		return err
	}
	tokens, err := s.deps.Auth.Tokens(r.Context(), who)
	if err != nil {
		return err
	}
	mode := s.deps.Auth.Mode()
	m.CanChange = !mode.Off()
	m.Ways = waysWords(mode)
	m.Roles = roleOptions(auth.Admin, auth.Viewer)
	for _, u := range users {
		m.Users = append(m.Users, templates.UserRow{
			Name: u.Name, URL: "/settings/users/" + url.PathEscape(u.Name), Role: roleWord(u.Role), Roles: roleOptions(auth.Admin, u.Role),
			Disabled: u.Disabled, BreakGlass: u.BreakGlass, Self: "user:"+u.ID == who.ID,
			Created: templates.Ago(u.Created, v.Now), LastLogin: templates.Ago(u.LastLogin, v.Now),
		})
	}
	for _, x := range sessions {
		m.Sessions = append(m.Sessions, sessionRow(x, v.Now))
	}
	for _, x := range tokens {
		m.Tokens = append(m.Tokens, tokenRow(x, v.Now))
	}
	return writePage(w, r, status, templates.UsersPage(s.shell(r, v, "settings", words.T("users.title")), m))
}

// waysWords is how people come in here.
func waysWords(mode auth.Mode) string {
	out := ""
	for _, way := range []auth.Mode{auth.ModeLocal, auth.ModeOIDC, auth.ModeProxy, auth.ModeNone, auth.ModeDemo} {
		if mode.Has(way) {
			if out != "" {
				out += " "
			}
			out += words.Code("way", string(way), nil)
		}
	}
	return out
}

func (s *Site) usersProblem(w http.ResponseWriter, r *http.Request, err error) error {
	m := templates.Users{Name: typed(r.PostForm.Get("name"), 64)}
	return s.problem(w, err, &m.Problem, func(status int) error { return s.writeUsers(w, r, status, m) })
}

func (s *Site) postUser(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	_, err := s.deps.Auth.CreateUser(r.Context(), auth.From(r.Context()), auth.NewUser{
		Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"), Role: auth.Role(r.PostForm.Get("role")),
	})
	if err != nil {
		return s.usersProblem(w, r, err)
	}
	seeOther(w, "/settings/users?done=user")
	return nil
}

// postUserChange does what the pressed button says, and that alone.
func (s *Site) postUserChange(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	name, err := pathText(r, "name")
	if err != nil {
		return err
	}
	ctx, by, in := r.Context(), auth.From(r.Context()), r.PostForm
	switch in.Get("do") {
	case "role":
		err = s.deps.Auth.SetRole(ctx, by, name, auth.Role(in.Get("role")))
	case "password":
		err = s.deps.Auth.SetPassword(ctx, by, name, in.Get("password"))
	case "disable":
		err = s.deps.Auth.DisableUser(ctx, by, name)
	case "enable":
		err = s.deps.Auth.EnableUser(ctx, by, name)
	default:
		err = fault.New(fault.Invalid, "The form does not say what to change.")
	}
	if err != nil {
		return s.usersProblem(w, r, err)
	}
	seeOther(w, "/settings/users?done=change")
	return nil
}
