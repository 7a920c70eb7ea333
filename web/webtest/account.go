package webtest

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/auth"
	"shardboard/web/site"
)

// Olga made the canned plans.
var Olga = auth.Principal{ID: "user:olga", Name: "Olga", Role: auth.Operator, Method: auth.ByPassword, Session: "s9"}

// Account is sign-in with canned accounts, sessions and tokens.
type Account struct {
	Claimed
	SignInMode   auth.Mode
	SignInOffers auth.Offers
	Me           auth.Principal // nobody if zero
	Refusal      error
	Lost         error // of the store, when somebody is looked up
	Empty        bool
}

func (c Account) Mode() auth.Mode { return c.SignInMode }

func (c Account) Offers(context.Context) (auth.Offers, error) { return c.SignInOffers, nil }

func (c Account) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	if c.Lost != nil {
		return auth.Principal{}, c.Lost
	}
	if c.Me.ID == "" {
		return auth.Principal{}, auth.ErrNobody
	}
	return c.Me, nil
}

func (c Account) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.Refusal
}

func (c Account) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "https://issuer.example/authorize?client_id=board&state=x", c.Refusal
}

func (c Account) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.Refusal
}

func (c Account) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, c.Refusal
}

func (c Account) ChangePassword(context.Context, auth.Principal, string, string) error {
	return c.Refusal
}

func (c Account) CreateToken(_ context.Context, _ auth.Principal, t auth.NewToken) (string, auth.Token, error) {
	return "sbt_3fQm9vKxT2uYbNcWzRjHsLpDgAeXq7", auth.Token{ID: "t1", Name: t.Name, Role: t.Role}, nil
}

func (c Account) Users(context.Context, auth.Principal) ([]auth.User, error) {
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

func (c Account) Sessions(context.Context, auth.Principal) ([]auth.Session, error) {
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

func (c Account) Tokens(context.Context, auth.Principal) ([]auth.Token, error) {
	if c.Empty {
		return nil, nil
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

var (
	Anna = auth.Principal{ID: "user:1", Name: "anna", Role: auth.Admin, Method: auth.ByPassword, Session: "s1", From: "10.1.2.3"}
	Vera = auth.Principal{ID: "oidc:ab:cd", Name: "Vera", Role: auth.Viewer, Method: auth.ByOIDC, Session: "s3", From: "10.1.2.9"}
	Bot  = auth.Principal{ID: "token:t1", Name: "ticket bot", Role: auth.Support, Method: auth.ByToken}
)

func Playing(c Account) func(*site.Deps) { return func(d *site.Deps) { d.Auth = c } }
