package auth

import (
	"context"
	"regexp"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const maxName = 64

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

// ByConsole is the method of whoever may open the data directory itself.
const ByConsole Method = "console"

// Console is who runs a command on the machine that holds the data, while no
// server owns it.
func Console() Principal {
	return Principal{ID: "console", Name: "console", Role: Admin, Method: ByConsole}
}

// manage refuses whoever may not change accounts, and everybody where none are
// in use.
func (s *Service) manage(by Principal) error {
	if !by.May(Admin) {
		return fault.New(fault.Forbidden, "Only an admin may see and change users.")
	}
	if s.o.Mode.Off() {
		return ErrNoAccounts
	}
	return nil
}

// Users are all accounts, by name.
func (s *Service) Users(ctx context.Context, by Principal) ([]User, error) {
	if !by.May(Admin) {
		return nil, fault.New(fault.Forbidden, "Only an admin may see and change users.")
	}
	rows, err := s.o.Store.Users(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]User, 0, len(rows))
	for _, u := range rows {
		out = append(out, shown(u))
	}
	return out, nil
}

func shown(u store.User) User {
	return User{ID: u.ID, Name: u.Name, Role: Role(u.Role), Disabled: u.Disabled, BreakGlass: u.BreakGlass, Created: u.Created, LastLogin: u.LastLogin}
}

// CreateUser adds an account.
func (s *Service) CreateUser(ctx context.Context, by Principal, n NewUser) (User, error) {
	if err := s.manage(by); err != nil {
		return User{}, err
	}
	if n.BreakGlass {
		n.Role = Admin
	}
	u, err := s.account(ctx, n)
	if err != nil {
		return User{}, err
	}
	details := []string{"name", u.Name, "role", u.Role}
	if u.BreakGlass {
		details = append(details, "kind", "break-glass")
	}
	if err := s.o.Store.CreateUser(ctx, u, s.entry(by, auditUserCreated, "user:"+u.ID, "ok", details...)); err != nil {
		return User{}, err
	}
	if !u.BreakGlass {
		s.first.close()
	}
	return shown(u), nil
}

// account is a checked row.
func (s *Service) account(ctx context.Context, n NewUser) (store.User, error) {
	name := strings.ToLower(strings.TrimSpace(n.Name))
	if len(name) > maxName || !nameForm.MatchString(name) {
		return store.User{}, fault.New(fault.Invalid, "A name has up to %d of the letters a to z, digits and . _ @ + -, and begins with a letter or digit.", maxName)
	}
	if !n.Role.Known() {
		return store.User{}, fault.New(fault.Invalid, "A role is viewer, support, operator or admin.")
	}
	if err := s.checkPassword(name, n.Password); err != nil {
		return store.User{}, err
	}
	if !s.o.Store.Owner() {
		return store.User{}, store.ErrReadOnly
	}
	hash, err := s.hashes.of(ctx, n.Password)
	if err != nil {
		return store.User{}, err
	}
	id, err := newID(s.o.Random)
	if err != nil {
		return store.User{}, err
	}
	return store.User{ID: id, Name: name, Role: string(n.Role), Password: hash, BreakGlass: n.BreakGlass, Created: s.o.Now()}, nil
}

// SetPassword gives an account another password and ends its sessions.
func (s *Service) SetPassword(ctx context.Context, by Principal, name, password string) error {
	u, err := s.managed(ctx, by, name)
	if err != nil {
		return err
	}
	if err := s.checkPassword(u.Name, password); err != nil {
		return err
	}
	hash, err := s.hashes.of(ctx, password)
	if err != nil {
		return err
	}
	return s.change(ctx, by, u, store.UserChange{Password: &hash}, auditUserPassword)
}

// ChangePassword is SetPassword for oneself. The session that asks goes on.
func (s *Service) ChangePassword(ctx context.Context, by Principal, present, password string) error {
	id, ok := strings.CutPrefix(by.ID, "user:")
	if !ok || by.Session == "" {
		return fault.New(fault.Forbidden, "Your password is not kept here. Change it where you sign in.")
	}
	u, err := s.o.Store.User(ctx, id)
	if err != nil {
		return err
	}
	if err := checkAttempt(u.Name, present); err != nil {
		return err
	}
	if wait, first := s.attempt(ctx, u.Name, by.From); wait > 0 {
		if first {
			s.refused(ctx, by, auditLimited, by.ID, "too many attempts")
		}
		return &TooMany{Wait: wait}
	}
	ok, _, err = s.hashes.match(ctx, insider, present, u.Password)
	if err != nil {
		return err
	}
	if !ok {
		s.refused(ctx, by, auditUserPassword, by.ID, "wrong password")
		return fault.New(fault.Invalid, "The present password is wrong.")
	}
	if err := s.checkPassword(u.Name, password); err != nil {
		return err
	}
	hash, err := s.hashes.of(ctx, password)
	if err != nil {
		return err
	}
	return s.change(ctx, by, u, store.UserChange{Password: &hash, Except: by.Session}, auditUserPassword)
}

// SetRole changes what an account may do. Its sockets close, and its sessions
// become stale: the next request of each has another session, with a fresh
// secret and the new role.
func (s *Service) SetRole(ctx context.Context, by Principal, name string, role Role) error {
	u, err := s.managed(ctx, by, name)
	if err != nil {
		return err
	}
	if !role.Known() {
		return fault.New(fault.Invalid, "A role is viewer, support, operator or admin.")
	}
	if u.BreakGlass {
		return fault.New(fault.Invalid, "The break-glass account is an admin; it can be disabled.")
	}
	if Role(u.Role) == role {
		return nil
	}
	text := string(role)
	return s.change(ctx, by, u, store.UserChange{Role: &text, Keep: keep(u)}, auditUserRole, "was", u.Role, "role", text)
}

// DisableUser keeps an account out and ends its sessions and tokens.
func (s *Service) DisableUser(ctx context.Context, by Principal, name string) error {
	u, err := s.managed(ctx, by, name)
	if err != nil || u.Disabled {
		return err
	}
	yes := true
	return s.change(ctx, by, u, store.UserChange{Disabled: &yes, Keep: keep(u)}, auditUserDisabled)
}

// EnableUser lets an account in again.
func (s *Service) EnableUser(ctx context.Context, by Principal, name string) error {
	u, err := s.managed(ctx, by, name)
	if err != nil || !u.Disabled {
		return err
	}
	no := false
	return s.change(ctx, by, u, store.UserChange{Disabled: &no}, auditUserEnabled)
}

// keep is the role that must not die out by a change of u.
func keep(u store.User) string {
	if Role(u.Role) == Admin && !u.BreakGlass && !u.Disabled {
		return string(Admin)
	}
	return ""
}

// managed is the account that by may change.
func (s *Service) managed(ctx context.Context, by Principal, name string) (store.User, error) {
	if err := s.manage(by); err != nil {
		return store.User{}, err
	}
	return s.o.Store.UserByName(ctx, strings.ToLower(strings.TrimSpace(name)))
}

// change writes, ends what it ends, and closes the sockets that hung on it.
func (s *Service) change(ctx context.Context, by Principal, u store.User, c store.UserChange, what string, details ...string) error {
	if c.Role != nil {
		c.Rotate = "user:" + u.ID
	} else {
		c.End = "user:" + u.ID
	}
	ids, err := s.o.Store.ChangeUser(ctx, u.ID, c, s.entry(by, what, "user:"+u.ID, "ok", append(details, "name", u.Name)...))
	if err != nil {
		return err
	}
	s.endSessions(ids...)
	if c.Password != nil {
		return nil // tokens are not opened by it
	}
	tokens, err := s.o.Store.Tokens(ctx, "user:"+u.ID)
	for _, t := range tokens {
		s.ended.end("token:" + t.ID)
	}
	return err
}
