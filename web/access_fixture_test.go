package web

import (
	"context"
	"net/http"
	"strings"

	"shardboard/internal/auth"
	"shardboard/web/site"
)

// everybody is an Authenticator to which all are one person.
type everybody struct{ who auth.Principal }

func (e everybody) Mode() auth.Mode { return auth.ModeNone }

func (e everybody) Offers(context.Context) (auth.Offers, error) { return auth.Offers{Off: true}, nil }

func (e everybody) ClientAddr(*http.Request) string { return "127.0.0.1" }

func (e everybody) Check(context.Context, auth.Principal) error { return nil }

func (e everybody) Ended(auth.Principal) <-chan struct{} { return nil }

func (e everybody) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return e.who, nil
}

func (e everybody) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrCredentials
}

func (e everybody) SignOut(context.Context, auth.Principal) (*http.Cookie, error) { return nil, nil }

func (e everybody) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrLink
}

func (e everybody) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "", auth.ErrCredentials
}

func (e everybody) FinishOIDC(http.ResponseWriter, *http.Request) (string, error) {
	return "", auth.ErrCredentials
}

func (e everybody) Sessions(context.Context, auth.Principal) ([]auth.Session, error) { return nil, nil }

func (e everybody) Revoke(context.Context, auth.Principal, string) error { return auth.ErrNoAccounts }

func (e everybody) Users(context.Context, auth.Principal) ([]auth.User, error) { return nil, nil }

func (e everybody) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, auth.ErrNoAccounts
}

func (e everybody) SetPassword(context.Context, auth.Principal, string, string) error {
	return auth.ErrNoAccounts
}

func (e everybody) SetRole(context.Context, auth.Principal, string, auth.Role) error {
	return auth.ErrNoAccounts
}

func (e everybody) DisableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e everybody) EnableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e everybody) ChangePassword(context.Context, auth.Principal, string, string) error {
	return auth.ErrNoAccounts
}

func (e everybody) Tokens(context.Context, auth.Principal) ([]auth.Token, error) { return nil, nil }

func (e everybody) CreateToken(context.Context, auth.Principal, auth.NewToken) (string, auth.Token, error) {
	return "", auth.Token{}, auth.ErrNoAccounts
}

func (e everybody) RevokeToken(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

// claimed is an Authenticator to which people are who they say: the header
// X-Test-Who holds a name and a role, as in "anna admin".
type claimed struct{ everybody }

func (claimed) Mode() auth.Mode { return auth.ModeLocal }

func (claimed) Offers(context.Context) (auth.Offers, error) {
	return auth.Offers{Password: true}, nil
}

func (claimed) Identify(_ http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	name, role, ok := strings.Cut(r.Header.Get("X-Test-Who"), " ")
	if !ok {
		return auth.Principal{}, auth.ErrNobody
	}
	return auth.Principal{ID: "user:" + name, Name: name, Role: auth.Role(role), Method: auth.ByPassword, Session: "session-of-" + name}, nil
}

func withClaims(d *site.Deps) { d.Auth = claimed{} }

// as is a request of somebody: as("anna", auth.Admin).
func as(name string, role auth.Role) func(*http.Request) {
	return header("X-Test-Who", name+" "+string(role))
}
