package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// apiMe is who asks.
func (s *Site) apiMe(w http.ResponseWriter, r *http.Request) error {
	who := auth.From(r.Context())
	out := api.Me{ID: who.ID, Name: who.Name, Role: string(who.Role), Method: string(who.Method), From: who.From, Roles: []string{}}
	for _, role := range auth.Roles() {
		if who.May(role) {
			out.Roles = append(out.Roles, string(role))
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiSessions(w http.ResponseWriter, r *http.Request) error {
	all, err := s.deps.Auth.Sessions(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, apiSession)
}

func (s *Site) apiTokens(w http.ResponseWriter, r *http.Request) error {
	all, err := s.deps.Auth.Tokens(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, apiToken)
}

func (s *Site) apiUsers(w http.ResponseWriter, r *http.Request) error {
	all, err := s.deps.Auth.Users(r.Context(), auth.From(r.Context()))
	return writeList(s, w, all, err, apiUser)
}

// writeList answers a whole list that is read now: it is never stale.
func writeList[R, T any](s *Site, w http.ResponseWriter, rows []R, err error, wire func(R) T) error {
	if err != nil {
		return err
	}
	out := api.List[T]{AsOf: s.deps.Now()}
	for _, row := range rows {
		out.Items = append(out.Items, wire(row))
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiRevokeSession(w http.ResponseWriter, r *http.Request) error {
	return s.apiRevoke(w, r, s.deps.Auth.Revoke)
}

func (s *Site) apiRevokeToken(w http.ResponseWriter, r *http.Request) error {
	return s.apiRevoke(w, r, s.deps.Auth.RevokeToken)
}

func (s *Site) apiRevoke(w http.ResponseWriter, r *http.Request, do revokeFunc) error {
	id, err := pathText(r, "id")
	if err != nil {
		return err
	}
	if err := do(r.Context(), auth.From(r.Context()), id); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, api.Done{Done: true})
}

func (s *Site) apiCreateToken(w http.ResponseWriter, r *http.Request) error {
	var in api.TokenCreate
	if err := readJSON(r, &in); err != nil {
		return err
	}
	secret, made, err := s.deps.Auth.CreateToken(r.Context(), auth.From(r.Context()),
		auth.NewToken{Name: in.Name, Role: auth.Role(in.Role), Expires: in.Expires})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, api.TokenCreated{Token: apiToken(made), Secret: secret})
}

func (s *Site) apiCreateUser(w http.ResponseWriter, r *http.Request) error {
	var in api.UserCreate
	if err := readJSON(r, &in); err != nil {
		return err
	}
	made, err := s.deps.Auth.CreateUser(r.Context(), auth.From(r.Context()),
		auth.NewUser{Name: in.Name, Password: in.Password, Role: auth.Role(in.Role)})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, apiUser(made))
}

// apiChangeUser changes what is given, in this order: role, password, disabled.
// One that fails ends it; those before it have happened.
func (s *Site) apiChangeUser(w http.ResponseWriter, r *http.Request) error {
	name, err := pathText(r, "name")
	if err != nil {
		return err
	}
	var in api.UserChange
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if in.Role == nil && in.Password == nil && in.Disabled == nil {
		return fault.New(fault.Invalid, "Give at least one of role, password and disabled.")
	}
	ctx, by, who := r.Context(), auth.From(r.Context()), s.deps.Auth
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
			return writeJSON(w, http.StatusOK, apiUser(u))
		}
	}
	return fault.New(fault.NotFound, "There is no user of this name any more.")
}

func apiUser(u auth.User) api.User {
	return api.User{ID: u.ID, Name: u.Name, Role: string(u.Role), Disabled: u.Disabled, BreakGlass: u.BreakGlass,
		Created: u.Created.UTC(), LastLogin: api.Time(u.LastLogin)}
}

func apiSession(x auth.Session) api.Session {
	return api.Session{ID: x.ID, Subject: x.Subject, Name: x.Name, Role: string(x.Role), Method: string(x.Method), From: x.From,
		Created: x.Created.UTC(), Used: x.Used.UTC(), Ends: x.Ends.UTC(), Current: x.Current}
}

func apiToken(x auth.Token) api.Token {
	return api.Token{ID: x.ID, Name: x.Name, Role: string(x.Role), Owner: x.Owner,
		Created: x.Created.UTC(), Expires: x.Expires.UTC(), Used: api.Time(x.Used), Revoked: api.Time(x.Revoked)}
}
