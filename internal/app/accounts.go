package app

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/store/sqlite"
)

// Accounts manages users and tokens for the command line: through a running server, or in a data
// directory that no server owns.
type Accounts interface {
	Users(ctx context.Context) ([]api.User, error)
	// CreateUser adds a local user; fault.Conflict if the name is taken.
	CreateUser(ctx context.Context, u api.UserCreate) (api.User, error)
	// ChangeUser changes what is set: password, role, whether it may sign in.
	ChangeUser(ctx context.Context, name string, c api.UserChange) error
	Tokens(ctx context.Context) ([]api.Token, error)
	// CreateToken answers the secret, this once.
	CreateToken(ctx context.Context, t api.TokenCreate) (api.TokenCreated, error)
	// RevokeToken ends a token at once.
	RevokeToken(ctx context.Context, id string) error
	// Close gives the data directory back, if it was taken.
	Close() error
}

// Accounts manages the server's users and tokens.
func (r Remote) Accounts() Accounts { return remoteAccounts{r} }

type remoteAccounts struct{ at Remote }

func (r remoteAccounts) Close() error { return nil }

func (r remoteAccounts) Users(ctx context.Context) ([]api.User, error) {
	return collect[api.User](ctx, r.at, "/users")
}

func (r remoteAccounts) CreateUser(ctx context.Context, u api.UserCreate) (made api.User, err error) {
	err = r.at.Do(ctx, "POST", api.Prefix+"/users", u, &made)
	return made, err
}

func (r remoteAccounts) ChangeUser(ctx context.Context, name string, c api.UserChange) error {
	return r.at.Do(ctx, "POST", api.Prefix+"/users/"+url.PathEscape(name), c, nil)
}

func (r remoteAccounts) Tokens(ctx context.Context) ([]api.Token, error) {
	return collect[api.Token](ctx, r.at, "/tokens")
}

func (r remoteAccounts) CreateToken(ctx context.Context, t api.TokenCreate) (made api.TokenCreated, err error) {
	err = r.at.Do(ctx, "POST", api.Prefix+"/tokens", t, &made)
	return made, err
}

func (r remoteAccounts) RevokeToken(ctx context.Context, id string) error {
	return r.at.Do(ctx, "POST", api.Prefix+"/tokens/"+url.PathEscape(id)+"/revoke", nil, nil)
}

func collect[T any](ctx context.Context, at Remote, path string) (out []T, err error) {
	for item, err := range pages[T](ctx, at, api.Prefix+path, nil) {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// LocalAccounts manages the users and tokens of a data directory or of a store on MongoDB. No server
// may own the directory, because only one process writes to it; a database may be shared.
type LocalAccounts struct {
	db     store.Database
	auth   *auth.Service
	leaked *auth.Leaked // nil: no list of leaked passwords
}

// OpenAccounts owns a data directory, or has a store open, until Close. It needs no sign-in: whoever
// can open the files or the database could change them anyway. leaked is a file of passwords to reject, ""
// for none.
func OpenAccounts(ctx context.Context, at StorePlace, leaked string, log *slog.Logger) (*LocalAccounts, error) {
	l := &LocalAccounts{}
	if err := l.open(ctx, at, leaked, log); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *LocalAccounts) open(ctx context.Context, at StorePlace, leaked string, log *slog.Logger) (err error) {
	if leaked != "" {
		if l.leaked, err = auth.OpenLeaked(leaked); err != nil {
			return err
		}
	}
	if l.db, err = openForAccounts(ctx, at, log); err != nil {
		return err
	}
	for _, note := range l.db.Notes() {
		log.Warn(note)
	}
	if !l.db.Owner() {
		return fault.New(
			fault.Conflict,
			"A running shardboard owns %s. Ask it instead: leave out --data-dir and put a token into SHARDBOARD_TOKEN; or stop it first.",
			at.Dir,
		)
	}
	l.auth, err = auth.New(auth.Options{Store: l.db, Log: log, Mode: auth.ModeLocal, Leaked: l.leaked})
	return err
}

func openForAccounts(ctx context.Context, at StorePlace, log *slog.Logger) (store.Database, error) {
	if at.Address.IsZero() {
		return asRowStore(sqlite.Open(ctx, at.Dir))
	}
	return asRowStore(mongodb.Open(ctx, at.Address, mongodb.Options{Log: log, Follow: true}))
}

// Close releases the directory.
func (l *LocalAccounts) Close() error {
	var errs []error
	if l.db != nil {
		errs = append(errs, l.db.Close())
	}
	if l.leaked != nil {
		errs = append(errs, l.leaked.Close())
	}
	return errors.Join(errs...)
}

// Users returns all accounts.
func (l *LocalAccounts) Users(ctx context.Context) (out []api.User, err error) {
	users, err := l.auth.Users(ctx, auth.Console())
	for _, u := range users {
		out = append(out, userOf(u))
	}
	return out, err
}

// CreateUser adds an account.
func (l *LocalAccounts) CreateUser(ctx context.Context, u api.UserCreate) (api.User, error) {
	made, err := l.auth.CreateUser(ctx, auth.Console(), auth.NewUser{Name: u.Name, Password: u.Password, Role: auth.Role(u.Role)})
	return userOf(made), err
}

// BreakGlass adds the emergency account, or sets its password and enables it. Only this command can
// do so: whoever runs it has access to the machine anyway.
func (l *LocalAccounts) BreakGlass(ctx context.Context, name, password string) (made bool, err error) {
	users, err := l.auth.Users(ctx, auth.Console())
	if err != nil {
		return false, err
	}
	for _, u := range users {
		if u.BreakGlass {
			if name != "" && name != u.Name {
				return false, fault.New(fault.Conflict, "The break-glass account is %s; there is only one.", u.Name)
			}
			return false, errors.Join(l.auth.SetPassword(ctx, auth.Console(), u.Name, password), l.auth.EnableUser(ctx, auth.Console(), u.Name))
		}
	}
	if name == "" {
		name = "break-glass"
	}
	_, err = l.auth.CreateUser(ctx, auth.Console(), auth.NewUser{Name: name, Password: password, BreakGlass: true})
	return err == nil, err
}

// ChangeUser changes the fields that are set.
func (l *LocalAccounts) ChangeUser(ctx context.Context, name string, c api.UserChange) error {
	by := auth.Console()
	if c.Role != nil {
		if err := l.auth.SetRole(ctx, by, name, auth.Role(*c.Role)); err != nil {
			return err
		}
	}
	if c.Password != nil {
		if err := l.auth.SetPassword(ctx, by, name, *c.Password); err != nil {
			return err
		}
	}
	switch {
	case c.Disabled == nil:
		return nil
	case *c.Disabled:
		return l.auth.DisableUser(ctx, by, name)
	}
	return l.auth.EnableUser(ctx, by, name)
}

// Tokens returns all tokens.
func (l *LocalAccounts) Tokens(ctx context.Context) (out []api.Token, err error) {
	tokens, err := l.auth.Tokens(ctx, auth.Console())
	for _, t := range tokens {
		out = append(out, auditing.Token(t))
	}
	return out, err
}

// CreateToken creates a token.
func (l *LocalAccounts) CreateToken(ctx context.Context, t api.TokenCreate) (api.TokenCreated, error) {
	secret, made, err := l.auth.CreateToken(ctx, auth.Console(), auditing.NewToken(t))
	return api.TokenCreated{Token: auditing.Token(made), Secret: secret}, err
}

// RevokeToken revokes a token.
func (l *LocalAccounts) RevokeToken(ctx context.Context, id string) error {
	return l.auth.RevokeToken(ctx, auth.Console(), id)
}

func userOf(u auth.User) api.User {
	return api.User{
		ID:         u.ID,
		Name:       u.Name,
		Role:       string(u.Role),
		Disabled:   u.Disabled,
		BreakGlass: u.BreakGlass,
		Created:    u.Created,
		LastLogin:  timeOrNil(u.LastLogin),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
