package webtest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// Olga is an operator. The canned plans are hers.
var Olga = auth.Principal{ID: "user:olga", Name: "Olga", Role: auth.Operator, Method: auth.ByPassword, Session: "s9"}

// StubAuth signs in as Me, and has canned accounts, sessions and tokens.
type StubAuth struct {
	PeopleByHeader
	SignInMode   auth.Mode
	SignInOffers auth.Offers
	Me           auth.Principal // nobody if zero
	Refusal      error
	Lost         error // of the store, when somebody is looked up
	Empty        bool
	KeptTokens   []auth.Token // instead of the canned ones; nil: those
}

func (c StubAuth) Mode() auth.Mode { return c.SignInMode }

func (c StubAuth) Offers(context.Context) (auth.Offers, error) { return c.SignInOffers, nil }

func (c StubAuth) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	if c.Lost != nil {
		return auth.Principal{}, c.Lost
	}
	if c.Me.ID == "" {
		return auth.Principal{}, auth.ErrNobody
	}
	return c.Me, nil
}

func (c StubAuth) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.Refusal
}

func (c StubAuth) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "https://issuer.example/authorize?client_id=board&state=x", c.Refusal
}

func (c StubAuth) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.Refusal
}

func (c StubAuth) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, c.Refusal
}

func (c StubAuth) ChangePassword(context.Context, auth.Principal, string, string) (*http.Cookie, error) {
	return nil, c.Refusal
}

func (c StubAuth) CreateToken(_ context.Context, _ auth.Principal, t auth.NewToken) (string, auth.Token, error) {
	return "sbt_3fQm9vKxT2uYbNcWzRjHsLpDgAeXq7", auth.Token{ID: "t1", Name: t.Name, Role: t.Role}, nil
}

func (c StubAuth) Users(context.Context, auth.Principal) ([]auth.User, error) {
	if c.Empty {
		return nil, nil
	}
	return []auth.User{
		{ID: "1", Name: "anna", Role: auth.Admin, Created: Epoch.AddDate(0, -3, 0), LastLogin: Epoch.Add(-10 * time.Minute)},
		{ID: "2", Name: "emergency", Role: auth.Admin, BreakGlass: true, Created: Epoch.AddDate(0, -3, 0)},
		{ID: "3", Name: "olga", Role: auth.Operator, Created: Epoch.AddDate(0, -1, 0), LastLogin: Epoch.Add(-26 * time.Hour)},
		{ID: "4", Name: "gone", Role: auth.Viewer, Disabled: true, Created: Epoch.AddDate(0, -2, 0), LastLogin: Epoch.AddDate(0, -1, 0)},
		{ID: "5", Name: `"><script>alert(1)</script>`, Role: "unheard", Created: Epoch},
	}, nil
}

func (c StubAuth) Sessions(context.Context, auth.Principal) ([]auth.Session, error) {
	if c.Empty {
		return nil, nil
	}
	return []auth.Session{
		{
			ID:      "s1",
			Subject: "user:1",
			Name:    "anna",
			Role:    auth.Admin,
			Method:  auth.ByPassword,
			From:    "10.1.2.3",
			Created: Epoch.Add(-time.Hour),
			Used:    Epoch,
			Ends:    Epoch.AddDate(0, 0, 7),
			Current: true,
		},
		{
			ID:      "s2",
			Subject: "user:1",
			Name:    "anna",
			Role:    auth.Admin,
			Method:  auth.ByPassword,
			From:    "2001:db8::7",
			Created: Epoch.Add(-50 * time.Hour),
			Used:    Epoch.Add(-3 * time.Hour),
			Ends:    Epoch.AddDate(0, 0, 5),
		},
		{
			ID:      "s3",
			Subject: "oidc:ab:cd",
			Name:    "Vera <img src=x onerror=alert(1)>",
			Role:    auth.Viewer,
			Method:  auth.ByOIDC,
			From:    "10.1.2.9",
			Created: Epoch.Add(-2 * time.Hour),
			Used:    Epoch.Add(-time.Minute),
			Ends:    Epoch.Add(10 * time.Hour),
		},
	}, nil
}

func (c StubAuth) Tokens(context.Context, auth.Principal) ([]auth.Token, error) {
	if c.Empty {
		return nil, nil
	}
	if c.KeptTokens != nil {
		return c.KeptTokens, nil
	}
	return []auth.Token{
		{
			ID:      "t1",
			Name:    "ticket bot",
			Role:    auth.Support,
			Owner:   "user:1",
			Created: Epoch.AddDate(0, 0, -20),
			Expires: Epoch.AddDate(0, 0, 70),
			Used:    Epoch.Add(-time.Minute),
		},
		{ID: "t2", Name: "old export", Role: auth.Viewer, Owner: "user:1", Created: Epoch.AddDate(-1, 0, 0), Expires: Epoch.AddDate(0, 0, -3)},
		{
			ID:        "t3",
			Name:      "leaked",
			Role:      auth.Operator,
			Owner:     "oidc:ab:cd",
			OwnerName: "Vera",
			Created:   Epoch.AddDate(0, -1, 0),
			Expires:   Epoch.AddDate(0, 2, 0),
			Revoked:   Epoch.Add(-time.Hour),
		},
	}, nil
}

// People and a token that tests sign in: an admin, a viewer and a support token.
var (
	Anna = auth.Principal{ID: "user:1", Name: "anna", Role: auth.Admin, Method: auth.ByPassword, Session: "s1", From: "10.1.2.3"}
	Vera = auth.Principal{ID: "oidc:ab:cd", Name: "Vera", Role: auth.Viewer, Method: auth.ByOIDC, Session: "s3", From: "10.1.2.9"}
	Bot  = auth.Principal{ID: "token:t1", Name: "ticket bot", Role: auth.Support, Method: auth.ByToken}
)

// WithAuth gives a server another account of who may sign in.
func WithAuth(c StubAuth) func(*site.Deps) { return func(d *site.Deps) { d.Access.Auth = c } }

// NoGroups is the refusal of a sign-in whose claims lack the groups. One of the other claims is named as markup.
func NoGroups() error {
	r := auth.Refuse(
		"groups-missing",
		fault.Forbidden,
		nil,
		"You are signed in at the issuer, but shardboard cannot tell which groups you are in.",
		`The claim "groups" came neither in the ID token nor from UserInfo.`,
	)
	r.Claims = auth.ClaimNames{
		IDToken:  []string{"aud", "iss", "sub"},
		UserInfo: []string{`<img src=x onerror=alert(1)>`, "realm_access.roles", "urn:example:" + strings.Repeat("long", 12)},
	}
	return r
}
