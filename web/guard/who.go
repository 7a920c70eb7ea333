// Package guard stands before every route of the site: under which host name a request
// may come, from which page, who sends it, whether their role allows it, how often, and
// what is recorded of those it refuses. It knows nothing of the cluster.
package guard

import (
	"context"
	"errors"
	"net/http"

	"shardboard/internal/auth"
)

// Authenticator is what the web needs of package auth, whose Service says what
// each method does. The tests have a second one, in which everybody is who
// they say.
type Authenticator interface {
	Mode() auth.Mode
	Offers(ctx context.Context) (auth.Offers, error)
	ClientAddr(r *http.Request) string

	Identify(w http.ResponseWriter, r *http.Request) (auth.Principal, error)
	Check(ctx context.Context, p auth.Principal) error
	AfterEnd(p auth.Principal, f func()) (stop func())

	SignIn(ctx context.Context, c auth.Credentials) (*http.Cookie, auth.Principal, error)
	IssuerSignOut(ctx context.Context, p auth.Principal) string
	SignOut(ctx context.Context, p auth.Principal) (*http.Cookie, error)
	ClaimFirst(ctx context.Context, f auth.First) (*http.Cookie, auth.Principal, error)
	StartOIDC(w http.ResponseWriter, r *http.Request, next string) (to string, err error)
	FinishOIDC(w http.ResponseWriter, r *http.Request) (to string, err error)

	Sessions(ctx context.Context, by auth.Principal) ([]auth.Session, error)
	Revoke(ctx context.Context, by auth.Principal, session string) error

	Users(ctx context.Context, by auth.Principal) ([]auth.User, error)
	CreateUser(ctx context.Context, by auth.Principal, u auth.NewUser) (auth.User, error)
	SetPassword(ctx context.Context, by auth.Principal, name, password string) error
	SetRole(ctx context.Context, by auth.Principal, name string, role auth.Role) error
	DisableUser(ctx context.Context, by auth.Principal, name string) error
	EnableUser(ctx context.Context, by auth.Principal, name string) error
	ChangePassword(ctx context.Context, by auth.Principal, present, password string) (*http.Cookie, error)

	Tokens(ctx context.Context, by auth.Principal) ([]auth.Token, error)
	CreateToken(ctx context.Context, by auth.Principal, t auth.NewToken) (secret string, made auth.Token, err error)
	RevokeToken(ctx context.Context, by auth.Principal, id string) error
}

// Nobody is the Authenticator of a server that was given none: it knows no one
// and lets no one in.
type Nobody struct{ Authenticator }

func (Nobody) Mode() auth.Mode { return "" }

func (Nobody) Offers(context.Context) (auth.Offers, error) { return auth.Offers{}, nil }

func (Nobody) ClientAddr(*http.Request) string { return "" }

func (Nobody) Check(context.Context, auth.Principal) error { return auth.ErrNobody }

func (Nobody) AfterEnd(auth.Principal, func()) func() { return func() {} }

func (Nobody) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return auth.Principal{}, auth.ErrNobody
}

func (Nobody) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrCredentials
}

func (Nobody) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrLink
}

func (Nobody) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "", auth.ErrNobody
}

func (Nobody) FinishOIDC(http.ResponseWriter, *http.Request) (string, error) {
	return "", auth.ErrNobody
}

// identify finds out who sent a request. An anonymous request is not an error. A
// failed lookup is, and is treated as anonymous. The response may set a new session cookie.
func (g *Guard) identify(w http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	who, err := g.Auth.Identify(w, r)
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, auth.ErrNobody):
		return auth.Principal{}, nil
	}
	return auth.Principal{}, err
}

type notingKey struct{}

// Noting is a context in which the id of whoever sent a request is noted, for its
// line in the log. It is written and read by the goroutine that serves the request.
func Noting(ctx context.Context) (context.Context, *string) {
	id := new(string)
	return context.WithValue(ctx, notingKey{}, id), id
}

// noted keeps the id and not the name, which may be anybody's.
func noted(ctx context.Context, who auth.Principal) {
	if to, ok := ctx.Value(notingKey{}).(*string); ok {
		*to = who.ID
	}
}
