package account

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// apiMe is who asks.
func ApiMe(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	who := auth.From(r.Context())
	out := api.Me{ID: who.ID, Name: who.Name, Role: string(who.Role), Method: string(who.Method), From: who.From, Roles: []string{}}
	for _, role := range auth.Roles() {
		if who.May(role) {
			out.Roles = append(out.Roles, string(role))
		}
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiSessions(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	all, err := s.Deps.Auth.Sessions(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, answer.ApiSession)
}

func ApiTokens(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	all, err := s.Deps.Auth.Tokens(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, answer.ApiToken)
}

func ApiUsers(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	all, err := s.Deps.Auth.Users(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, answer.ApiUser)
}

// writeList answers a whole list that is read now: it is never stale.
func writeList[R, T any](s *site.Site, w http.ResponseWriter, rows []R, err error, wire func(R) T) error {
	if err != nil {
		return err
	}
	out := api.List[T]{AsOf: s.Deps.Now()}
	for _, row := range rows {
		out.Items = append(out.Items, wire(row))
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiRevokeSession(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiRevoke(s, w, r, s.Deps.Auth.Revoke)
}

func ApiRevokeToken(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiRevoke(s, w, r, s.Deps.Auth.RevokeToken)
}

func apiRevoke(s *site.Site, w http.ResponseWriter, r *http.Request, do revokeFunc) error {
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	if err := do(r.Context(), auth.From(r.Context()), id); err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, api.Done{Done: true})
}

func ApiCreateToken(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.TokenCreate
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	secret, made, err := s.Deps.Auth.CreateToken(r.Context(), auth.From(r.Context()),
		auth.NewToken{Name: in.Name, Role: auth.Role(in.Role), Expires: in.Expires})
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, api.TokenCreated{Token: answer.ApiToken(made), Secret: secret})
}

func ApiCreateUser(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.UserCreate
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	made, err := s.Deps.Auth.CreateUser(r.Context(), auth.From(r.Context()),
		auth.NewUser{Name: in.Name, Password: in.Password, Role: auth.Role(in.Role)})
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.ApiUser(made))
}

// apiChangeUser changes what is given, in this order: role, password, disabled.
// One that fails ends it; those before it have happened.
func ApiChangeUser(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	var in api.UserChange
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	if in.Role == nil && in.Password == nil && in.Disabled == nil {
		return fault.New(fault.Invalid, "Give at least one of role, password and disabled.")
	}
	ctx, by, who := r.Context(), auth.From(r.Context()), s.Deps.Auth
	if in.Role != nil {
		err = who.SetRole(ctx, by, name, auth.Role(*in.Role))
	}
	if err == nil && in.Password != nil {
		err = who.SetPassword(ctx, by, name, *in.Password)
	}
	if err == nil && in.Disabled != nil {
		set := who.EnableUser
		if *in.Disabled {
			set = who.DisableUser
		}
		err = set(ctx, by, name)
	}
	if err != nil {
		return err
	}
	all, err := who.Users(ctx, by)
	if err != nil {
		return err
	}
	for _, u := range all {
		if u.Name == name {
			return site.WriteJSON(w, http.StatusOK, answer.ApiUser(u))
		}
	}
	return fault.New(fault.NotFound, "There is no user of this name any more.")
}
