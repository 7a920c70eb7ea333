package account

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// UsersPage is who may sign in, and who is signed in.
func UsersPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writeUsers(s, w, r, http.StatusOK, doneOf(r))
}

func writeUsers(s *site.Site, w http.ResponseWriter, r *http.Request, status int, o outcome) error {
	v := s.ViewFor(r)
	a, err := auditing.Everybody(r.Context(), s.Deps.Access.Auth, auth.From(r.Context()), v.Now)
	if err != nil {
		return err
	}
	return site.WritePage(w, r, status, usersPage(s.Shell(r, v, "users", "Users"), a, s.Deps.Access.Auth.Mode(), o, v.Now))
}

func usersProblem(s *site.Site, w http.ResponseWriter, r *http.Request, err error) error {
	o := outcome{Name: site.Typed(r.PostForm.Get("name"), 64)}
	return s.Problem(w, err, &o.Problem, func(status int) error { return writeUsers(s, w, r, status, o) })
}

// addUser creates an account.
func addUser(s *site.Site, r *http.Request, in api.UserCreate) (api.User, error) {
	made, err := s.Deps.Access.Auth.CreateUser(r.Context(), auth.From(r.Context()),
		auth.NewUser{Name: in.Name, Password: in.Password, Role: auth.Role(in.Role)})
	return auditing.User(made), err
}

// ChangeUser does what the pressed button says, and that alone.
func ChangeUser(s *site.Site, w http.ResponseWriter, r *http.Request) error {
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
		err = s.Deps.Access.Auth.SetRole(ctx, by, name, auth.Role(in.Get("role")))
	case "password":
		err = s.Deps.Access.Auth.SetPassword(ctx, by, name, in.Get("password"))
	case "disable":
		err = s.Deps.Access.Auth.DisableUser(ctx, by, name)
	case "enable":
		err = s.Deps.Access.Auth.EnableUser(ctx, by, name)
	default:
		err = fault.New(fault.Invalid, "The form does not say what to change.")
	}
	if err != nil {
		return usersProblem(s, w, r, err)
	}
	site.SeeOther(w, "/settings/users?done=change")
	return nil
}
