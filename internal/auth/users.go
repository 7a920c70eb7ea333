package auth

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const maxName = 64

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

// ByConsole is the method of somebody with access to the data directory.
const ByConsole Method = "console"

// Console is the principal of a command on the machine that holds the data, while no server owns
// it.
func Console() Principal {
	return Principal{ID: "console", Name: "console", Role: Admin, Method: ByConsole}
}

// requireAccountAdmin rejects everybody but admins, and everybody while sign-in is off.
func (s *Service) requireAccountAdmin(by Principal) error {
	if !by.May(Admin) {
		return fault.New(fault.Forbidden, "Only an admin may see and change users.")
	}
	if s.o.Mode.Off() {
		return ErrNoAccounts
	}
	return nil
}

// Users returns all accounts, by name.
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
		out = append(out, userFromRow(u))
	}
	return out, nil
}

func userFromRow(u store.User) User {
	return User{
		ID:         u.ID,
		Name:       u.Name,
		Role:       Role(u.Role),
		Disabled:   u.Disabled,
		BreakGlass: u.BreakGlass,
		Created:    u.Created,
		LastLogin:  u.LastLogin,
	}
}

// CreateUser adds an account.
func (s *Service) CreateUser(ctx context.Context, by Principal, n NewUser) (User, error) {
	if err := s.requireAccountAdmin(by); err != nil {
		return User{}, err
	}
	if n.BreakGlass {
		n.Role = Admin
	}
	u, err := s.newAccount(ctx, n)
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
	return userFromRow(u), nil
}

// newAccount checks the input and makes the row.
func (s *Service) newAccount(ctx context.Context, n NewUser) (store.User, error) {
	name := strings.ToLower(strings.TrimSpace(n.Name))
	if len(name) > maxName || !nameForm.MatchString(name) {
		return store.User{}, fault.New(
			fault.Invalid,
			"A name has up to %d of the letters a to z, digits and . _ @ + -, and begins with a letter or digit.",
			maxName,
		)
	}
	if !n.Role.Known() {
		return store.User{}, fault.New(fault.Invalid, "A role is viewer, support, operator or admin.")
	}
	if err := s.checkNewPassword(name, n.Password); err != nil {
		return store.User{}, err
	}
	if !s.o.Store.Owner() {
		return store.User{}, store.ErrReadOnly
	}
	hash, err := s.hashes.compute(ctx, n.Password)
	if err != nil {
		return store.User{}, err
	}
	id, err := newID(s.o.Random)
	if err != nil {
		return store.User{}, err
	}
	return store.User{ID: id, Name: name, Role: string(n.Role), Password: hash, BreakGlass: n.BreakGlass, Created: s.o.Now()}, nil
}

// SetPassword sets an account's password and ends its sessions and tokens.
func (s *Service) SetPassword(ctx context.Context, by Principal, name, password string) error {
	u, err := s.accountToManage(ctx, by, name)
	if err != nil {
		return err
	}
	if err := s.checkNewPassword(u.Name, password); err != nil {
		return err
	}
	hash, err := s.hashes.compute(ctx, password)
	if err != nil {
		return err
	}
	return s.changeUser(ctx, by, u, store.UserChange{Password: &hash}, auditUserPassword)
}

// ChangePassword sets by's own password and ends all sessions and tokens of the account. The browser of the
// request gets a new session: the cookie.
func (s *Service) ChangePassword(ctx context.Context, by Principal, present, password string) (*http.Cookie, error) {
	u, err := s.ownAccount(ctx, by, present)
	if err != nil {
		return nil, err
	}
	if err := s.checkNewPassword(u.Name, password); err != nil {
		return nil, err
	}
	hash, err := s.hashes.compute(ctx, password)
	if err != nil {
		return nil, err
	}
	next, err := s.o.Store.Session(ctx, by.Session)
	if err != nil {
		return nil, err
	}
	secret, err := newSecret(s.o.Random)
	if err != nil {
		return nil, err
	}
	if next.ID, err = newID(s.o.Random); err != nil {
		return nil, err
	}
	now := s.o.Now()
	next.Hash, next.Used, next.Stale, next.Former = digest(secret), now, false, time.Time{}
	if err := s.changeUser(ctx, by, u, store.UserChange{Password: &hash, Instead: &next}, auditUserPassword); err != nil {
		return nil, err
	}
	return s.cookie(cookieName, secret, int(next.Expires.Sub(now)/time.Second)), nil
}

// ownAccount is the account of somebody who knows its password.
func (s *Service) ownAccount(ctx context.Context, by Principal, present string) (store.User, error) {
	id, ok := strings.CutPrefix(by.ID, "user:")
	if !ok || by.Session == "" {
		return store.User{}, fault.New(fault.Forbidden, "Your password is not stored here. Change it where you sign in.")
	}
	u, err := s.o.Store.User(ctx, id)
	if err != nil {
		return u, err
	}
	if err := checkAttempt(u.Name, present); err != nil {
		return u, err
	}
	if wait, first := s.attempt(ctx, u.Name, by.From); wait > 0 {
		if first {
			s.refused(ctx, by, auditLimited, by.ID, "too many attempts")
		}
		return u, &TooMany{Wait: wait}
	}
	ok, _, err = s.hashes.match(ctx, signedIn, present, u.Password)
	if err != nil {
		return u, err
	}
	if !ok {
		s.refused(ctx, by, auditUserPassword, by.ID, "wrong password")
		return u, fault.New(fault.Invalid, "The current password is wrong.")
	}
	return u, nil
}

// SetRole changes an account's role. Its WebSockets close and its sessions become stale: the next
// request of each gets a new session with a new secret and the new role.
func (s *Service) SetRole(ctx context.Context, by Principal, name string, role Role) error {
	u, err := s.accountToManage(ctx, by, name)
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
	return s.changeUser(ctx, by, u, store.UserChange{Role: &text, Keep: requiredRole(u)}, auditUserRole, "was", u.Role, "role", text)
}

// DisableUser disables an account and ends its sessions and tokens.
func (s *Service) DisableUser(ctx context.Context, by Principal, name string) error {
	u, err := s.accountToManage(ctx, by, name)
	if err != nil || u.Disabled {
		return err
	}
	yes := true
	return s.changeUser(ctx, by, u, store.UserChange{Disabled: &yes, Keep: requiredRole(u)}, auditUserDisabled)
}

// EnableUser enables an account again.
func (s *Service) EnableUser(ctx context.Context, by Principal, name string) error {
	u, err := s.accountToManage(ctx, by, name)
	if err != nil || !u.Disabled {
		return err
	}
	no := false
	return s.changeUser(ctx, by, u, store.UserChange{Disabled: &no}, auditUserEnabled)
}

// requiredRole is the role that at least one other account must have after a change of u.
func requiredRole(u store.User) string {
	if Role(u.Role) == Admin && !u.BreakGlass && !u.Disabled {
		return string(Admin)
	}
	return ""
}

// accountToManage returns the account by its name, if by may change it.
func (s *Service) accountToManage(ctx context.Context, by Principal, name string) (store.User, error) {
	if err := s.requireAccountAdmin(by); err != nil {
		return store.User{}, err
	}
	return s.o.Store.UserByName(ctx, strings.ToLower(strings.TrimSpace(name)))
}

// changeUser stores a change, which ends or rotates sessions, and closes their WebSockets.
func (s *Service) changeUser(ctx context.Context, by Principal, u store.User, c store.UserChange, what string, details ...string) error {
	if c.Role != nil {
		c.Rotate = "user:" + u.ID
	} else {
		c.End = "user:" + u.ID
	}
	if c.Password != nil { // whoever knew the old one may have made tokens
		c.Revoke, c.RevokeAt = "user:"+u.ID, s.o.Now()
	}
	ids, err := s.o.Store.ChangeUser(ctx, u.ID, c, s.entry(by, what, "user:"+u.ID, "ok", append(details, "name", u.Name)...))
	if err != nil {
		return err
	}
	s.endSessions(ids...)
	tokens, err := s.o.Store.Tokens(ctx, "user:"+u.ID)
	for _, t := range tokens {
		s.endSignals.end("token:" + t.ID)
	}
	return err
}
