package webtest

import (
	"context"
	"net/http"
	"strings"

	"shardboard/internal/auth"
	"shardboard/web/site"
)

// OnePerson is an authenticator for which every request is of the same person.
type OnePerson struct{ Who auth.Principal }

func (e OnePerson) Mode() auth.Mode { return auth.ModeNone }

func (e OnePerson) Offers(context.Context) (auth.Offers, error) { return auth.Offers{Off: true}, nil }

func (e OnePerson) ClientAddr(*http.Request) string { return "127.0.0.1" }

func (e OnePerson) Check(context.Context, auth.Principal) error { return nil }

func (e OnePerson) AfterEnd(auth.Principal, func()) func() { return func() {} }

func (e OnePerson) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return e.Who, nil
}

func (e OnePerson) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrCredentials
}

func (e OnePerson) IssuerSignOut(context.Context, auth.Principal) string { return "" }

func (e OnePerson) SignOut(context.Context, auth.Principal) (*http.Cookie, error) { return nil, nil }

func (e OnePerson) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, auth.ErrLink
}

func (e OnePerson) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "", auth.ErrCredentials
}

func (e OnePerson) FinishOIDC(http.ResponseWriter, *http.Request) (string, error) {
	return "", auth.ErrCredentials
}

func (e OnePerson) Sessions(context.Context, auth.Principal) ([]auth.Session, error) { return nil, nil }

func (e OnePerson) Revoke(context.Context, auth.Principal, string) error { return auth.ErrNoAccounts }

func (e OnePerson) Users(context.Context, auth.Principal) ([]auth.User, error) { return nil, nil }

func (e OnePerson) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, auth.ErrNoAccounts
}

func (e OnePerson) SetPassword(context.Context, auth.Principal, string, string) error {
	return auth.ErrNoAccounts
}

func (e OnePerson) SetRole(context.Context, auth.Principal, string, auth.Role) error {
	return auth.ErrNoAccounts
}

func (e OnePerson) DisableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e OnePerson) EnableUser(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

func (e OnePerson) ChangePassword(context.Context, auth.Principal, string, string) (*http.Cookie, error) {
	return nil, auth.ErrNoAccounts
}

func (e OnePerson) Tokens(context.Context, auth.Principal) ([]auth.Token, error) { return nil, nil }

func (e OnePerson) CreateToken(context.Context, auth.Principal, auth.NewToken) (string, auth.Token, error) {
	return "", auth.Token{}, auth.ErrNoAccounts
}

func (e OnePerson) RevokeToken(context.Context, auth.Principal, string) error {
	return auth.ErrNoAccounts
}

// PeopleByHeader is an authenticator that believes the header X-Test-Who, as As sends it: "anna admin".
type PeopleByHeader struct{ OnePerson }

func (PeopleByHeader) Mode() auth.Mode { return auth.ModeLocal }

func (PeopleByHeader) Offers(context.Context) (auth.Offers, error) {
	return auth.Offers{Password: true}, nil
}

func (PeopleByHeader) Identify(_ http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	name, role, ok := strings.Cut(r.Header.Get("X-Test-Who"), " ")
	if !ok {
		return auth.Principal{}, auth.ErrNobody
	}
	return auth.Principal{ID: "user:" + name, Name: name, Role: auth.Role(role), Method: auth.ByPassword, Session: "session-of-" + name}, nil
}

// WithPeople is an option of New: requests say by As who sends them.
func WithPeople(d *site.Deps) { d.Access.Auth = PeopleByHeader{} }

// As sends a request as somebody: As("anna", auth.Admin). The server needs WithPeople.
func As(name string, role auth.Role) func(*http.Request) {
	return Header("X-Test-Who", name+" "+string(role))
}

// Bearer sends a token.
func Bearer(secret string) func(*http.Request) {
	return Header("Authorization", "Bearer "+secret)
}
