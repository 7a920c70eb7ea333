package account

import (
	"context"
	"net/http"
	"net/url"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

type revokeFunc = func(ctx context.Context, by auth.Principal, id string) error

// pageUsers is everybody: who may come in, and who is in.
func PageUsers(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writeUsers(s, w, r, http.StatusOK, Users{Done: doneWords(r)})
}

func writeUsers(s *site.Site, w http.ResponseWriter, r *http.Request, status int, m Users) error {
	v, who := s.ViewFor(r), auth.From(r.Context())
	users, err := s.Deps.Auth.Users(r.Context(), who)
	if err != nil {
		return err
	}
	sessions, err := s.Deps.Auth.Sessions(r.Context(), who)
	if err != nil {
		return err
	}
	tokens, err := s.Deps.Auth.Tokens(r.Context(), who)
	if err != nil {
		return err
	}
	mode := s.Deps.Auth.Mode()
	m.CanChange = !mode.Off()
	m.Ways = waysWords(mode)
	m.Roles = roleOptions(auth.Admin, auth.Viewer)
	for _, u := range users {
		m.Users = append(m.Users, UserRow{
			Name: u.Name, URL: "/settings/users/" + url.PathEscape(u.Name), Role: u.Role.Label(), Roles: roleOptions(auth.Admin, u.Role),
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
	return site.WritePage(w, r, status, UsersPage(s.Shell(r, v, "settings", "Users"), m))
}

func usersProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error) error {
	m := Users{Name: site.Typed(r.PostForm.Get("name"), 64)}
	return s.Problem(w, err, &m.Problem, func(status int) error { return writeUsers(s, w, r, status, m) })
}

func PostUser(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	_, err := s.Deps.Auth.CreateUser(r.Context(), auth.From(r.Context()), auth.NewUser{
		Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"), Role: auth.Role(r.PostForm.Get("role")),
	})
	if err != nil {
		return usersProblem(s, w, r, err)
	}
	site.SeeOther(w, "/settings/users?done=user")
	return nil
}

// postUserChange does what the pressed button says, and that alone.
func PostUserChange(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	ctx, by, in := r.Context(), auth.From(r.Context()), r.PostForm
	switch in.Get("do") {
	case "role":
		err = s.Deps.Auth.SetRole(ctx, by, name, auth.Role(in.Get("role")))
	case "password":
		err = s.Deps.Auth.SetPassword(ctx, by, name, in.Get("password"))
	case "disable":
		err = s.Deps.Auth.DisableUser(ctx, by, name)
	case "enable":
		err = s.Deps.Auth.EnableUser(ctx, by, name)
	default:
		err = fault.New(fault.Invalid, "The form does not say what to change.")
	}
	if err != nil {
		return usersProblem(s, w, r, err)
	}
	site.SeeOther(w, "/settings/users?done=change")
	return nil
}
