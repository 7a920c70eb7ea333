package webtest

import (
	"context"
	"net/http"
	"strings"

	"shardboard/internal/auth"
	"shardboard/web/site"
)

// Everybody is an Authenticator to which all are one person.
type Everybody struct{ Who auth.Principal }

func (e Everybody) Mode() auth.Mode { return auth.ModeNone }

func (e Everybody) Offers(context.Context) (auth.Offers, error) { return auth.Offers{Off: true}, nil }

func (e Everybody) ClientAddr(*http.Request) string { return "127.0.0.1" }

func (e Everybody) Check(context.Context, auth.Principal) error { return nil }

func (e Everybody) Ended(auth.Principal) <-chan struct{} { return nil }

func (e Everybody) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return e.Who, nil
}

func (e Everybody) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrCredentials
}

func (e Everybody) SignOut(context.Context, auth.Principal) (*http.Cookie, error) { return nil, nil }

func (e Everybody) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrLink
}

func (e Everybody) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "", auth.ErrCredentials
}

func (e Everybody) FinishOIDC(http.ResponseWriter, *http.Request) (string, error) {
	return "", auth.ErrCredentials
}

func (e Everybody) Sessions(context.Context, auth.Principal) ([]auth.Session, error) { return nil, nil }

func (e Everybody) Revoke(context.Context, auth.Principal, string) error { return auth.ErrNoAccounts }

func (e Everybody) Users(context.Context, auth.Principal) ([]auth.User, error) { return nil, nil }

func (e Everybody) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, auth.ErrNoAccounts
}

func (e Everybody) SetPassword(context.Context, auth.Principal, string, string) error {
	return auth.ErrNoAccounts
}

func (e Everybody) SetRole(context.Context, auth.Principal, string, auth.Role) error {
	return auth.ErrNoAccounts
}

func (e Everybody) DisableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e Everybody) EnableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e Everybody) ChangePassword(context.Context, auth.Principal, string, string) error {
	return auth.ErrNoAccounts
}

func (e Everybody) Tokens(context.Context, auth.Principal) ([]auth.Token, error) { return nil, nil }

func (e Everybody) CreateToken(context.Context, auth.Principal, auth.NewToken) (string, auth.Token, error) {
	return "", auth.Token{}, auth.ErrNoAccounts
}

func (e Everybody) RevokeToken(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

// Claimed is an Authenticator to which people are who they say: the header
// X-Test-Who holds a name and a role, as in "anna admin".
type Claimed struct{ Everybody }

func (Claimed) Mode() auth.Mode { return auth.ModeLocal }

func (Claimed) Offers(context.Context) (auth.Offers, error) {
	return auth.Offers{Password: true}, nil
}

func (Claimed) Identify(_ http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	name, role, ok := strings.Cut(r.Header.Get("X-Test-Who"), " ")
	if !ok {
		return auth.Principal{}, auth.ErrNobody
	}
	return auth.Principal{ID: "user:" + name, Name: name, Role: auth.Role(role), Method: auth.ByPassword, Session: "session-of-" + name}, nil
}

func WithClaims(d *site.Deps) { d.Auth = Claimed{} }

// As is a request of somebody: as("anna", auth.Admin).
func As(name string, role auth.Role) func(*http.Request) {
	return Header("X-Test-Who", name+" "+string(role))
}
