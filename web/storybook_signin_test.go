package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// cast is sign-in with canned accounts, sessions and tokens.
type cast struct {
	claimed
	mode    auth.Mode
	offers  auth.Offers
	me      auth.Principal // nobody if zero
	refusal error
	lost    error // of the store, when somebody is looked up
	empty   bool
}

func (c cast) Mode() auth.Mode { return c.mode }

func (c cast) Offers(context.Context) (auth.Offers, error) { return c.offers, nil }

func (c cast) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	if c.lost != nil {
		return auth.Principal{}, c.lost
	}
	if c.me.ID == "" {
		return auth.Principal{}, auth.ErrNobody
	}
	return c.me, nil
}

func (c cast) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.refusal
}

func (c cast) StartOIDC(http.ResponseWriter, *http.Request, string) (string, error) {
	return "https://issuer.example/authorize?client_id=board&state=x", c.refusal
}

func (c cast) ClaimFirst(context.Context, auth.First) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, c.refusal
}

func (c cast) CreateUser(context.Context, auth.Principal, auth.NewUser) (auth.User, error) {
	return auth.User{}, c.refusal
}

func (c cast) ChangePassword(context.Context, auth.Principal, string, string) error { return c.refusal }

func (c cast) CreateToken(_ context.Context, _ auth.Principal, t auth.NewToken) (string, auth.Token, error) {
	return "sbt_3fQm9vKxT2uYbNcWzRjHsLpDgAeXq7", auth.Token{ID: "t1", Name: t.Name, Role: t.Role}, nil
}

func (c cast) Users(context.Context, auth.Principal) ([]auth.User, error) {
	if c.empty {
		return nil, nil
	}
	return []auth.User{
		{ID: "1", Name: "anna", Role: auth.Admin, Created: epoch.AddDate(0, -3, 0), LastLogin: epoch.Add(-10 * time.Minute)},
		{ID: "2", Name: "emergency", Role: auth.Admin, BreakGlass: true, Created: epoch.AddDate(0, -3, 0)},
		{ID: "3", Name: "olga", Role: auth.Operator, Created: epoch.AddDate(0, -1, 0), LastLogin: epoch.Add(-26 * time.Hour)},
		{ID: "4", Name: "gone", Role: auth.Viewer, Disabled: true, Created: epoch.AddDate(0, -2, 0), LastLogin: epoch.AddDate(0, -1, 0)},
		{ID: "5", Name: `"><script>alert(1)</script>`, Role: "unheard", Created: epoch},
	}, nil
}

func (c cast) Sessions(context.Context, auth.Principal) ([]auth.Session, error) {
	if c.empty {
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
			Created: epoch.Add(-time.Hour),
			Used:    epoch,
			Ends:    epoch.AddDate(0, 0, 7),
			Current: true,
		},
		{
			ID:      "s2",
			Subject: "user:1",
			Name:    "anna",
			Role:    auth.Admin,
			Method:  auth.ByPassword,
			From:    "2001:db8::7",
			Created: epoch.Add(-50 * time.Hour),
			Used:    epoch.Add(-3 * time.Hour),
			Ends:    epoch.AddDate(0, 0, 5),
		},
		{
			ID:      "s3",
			Subject: "oidc:ab:cd",
			Name:    "Vera <img src=x onerror=alert(1)>",
			Role:    auth.Viewer,
			Method:  auth.ByOIDC,
			From:    "10.1.2.9",
			Created: epoch.Add(-2 * time.Hour),
			Used:    epoch.Add(-time.Minute),
			Ends:    epoch.Add(10 * time.Hour),
		},
	}, nil
}

func (c cast) Tokens(context.Context, auth.Principal) ([]auth.Token, error) {
	if c.empty {
		return nil, nil
	}
	return []auth.Token{
		{
			ID:      "t1",
			Name:    "ticket bot",
			Role:    auth.Support,
			Owner:   "user:1",
			Created: epoch.AddDate(0, 0, -20),
			Expires: epoch.AddDate(0, 0, 70),
			Used:    epoch.Add(-time.Minute),
		},
		{ID: "t2", Name: "old export", Role: auth.Viewer, Owner: "user:1", Created: epoch.AddDate(-1, 0, 0), Expires: epoch.AddDate(0, 0, -3)},
		{
			ID:        "t3",
			Name:      "leaked",
			Role:      auth.Operator,
			Owner:     "oidc:ab:cd",
			OwnerName: "Vera",
			Created:   epoch.AddDate(0, -1, 0),
			Expires:   epoch.AddDate(0, 2, 0),
			Revoked:   epoch.Add(-time.Hour),
		},
	}, nil
}

// noGroups is a refusal by the names of its claims, one of which means ill.
func noGroups() error {
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

var (
	anna = auth.Principal{ID: "user:1", Name: "anna", Role: auth.Admin, Method: auth.ByPassword, Session: "s1", From: "10.1.2.3"}
	vera = auth.Principal{ID: "oidc:ab:cd", Name: "Vera", Role: auth.Viewer, Method: auth.ByOIDC, Session: "s3", From: "10.1.2.9"}
	bot  = auth.Principal{ID: "token:t1", Name: "ticket bot", Role: auth.Support, Method: auth.ByToken}
)

func playing(c cast) func(*site.Deps) { return func(d *site.Deps) { d.Auth = c } }

// bareScenes are the pages before sign-in.
func bareScenes() []scene {
	fine := newStory().View()
	local := auth.Offers{Password: true}
	wrong := cast{mode: "local", offers: local, refusal: auth.ErrCredentials}
	post := func(path string, pairs ...string) []func(*http.Request) {
		return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, formOf(pairs...)}
	}
	return []scene{
		{name: "login", path: "/login", view: fine, change: playing(cast{mode: "local", offers: local})},
		{name: "login-ended", path: "/login?ended=1&next=%2Fcollections", view: fine, change: playing(cast{mode: "local", offers: local})},
		{
			name:   "login-both",
			path:   "/login",
			view:   fine,
			change: playing(cast{mode: "local,oidc", offers: auth.Offers{Password: true, OIDC: true}}),
		},
		{name: "login-oidc", path: "/login", view: fine, change: playing(cast{mode: "oidc", offers: auth.Offers{OIDC: true}})},
		{
			name:   "login-leave",
			path:   "/login/oidc",
			view:   fine,
			change: playing(cast{mode: "oidc", offers: auth.Offers{OIDC: true}}),
			ask:    post("/login/oidc", "next", "/zones"),
		},
		{name: "login-proxy", path: "/login", view: fine, change: playing(cast{mode: "proxy"})},
		{name: "login-first", path: "/login", view: fine, change: playing(cast{mode: "local", offers: auth.Offers{Password: true, First: true}})},
		{
			name:   "login-readonly",
			path:   "/login",
			view:   fine,
			change: playing(cast{mode: "local", offers: auth.Offers{Password: true, ReadOnly: true}}),
		},
		{name: "login-wrong", path: "/login", view: fine, change: playing(wrong), ask: post("/login", "name", "anna", "password", "x")},
		{
			name:   "login-toomany",
			path:   "/login",
			view:   fine,
			change: playing(cast{mode: "local", offers: local, refusal: &auth.TooMany{Wait: 42 * time.Second}}),
			ask:    post("/login", "name", "anna", "password", "x"),
		},
		{
			name:   "login-refused",
			path:   "/login/oidc",
			view:   fine,
			change: playing(cast{mode: "local,oidc", offers: auth.Offers{Password: true, OIDC: true}, refusal: noGroups()}),
			ask:    post("/login/oidc"),
		},
		{name: "first", path: "/login/first?key=abcdefgh", view: fine, change: playing(cast{mode: "local"})},
		{
			name:   "first-wrong",
			path:   "/login/first",
			view:   fine,
			change: playing(cast{mode: "local", refusal: auth.ErrLink}),
			ask:    post("/login/first", "key", "k", "name", "anna", "password", "x"),
		},
		{name: "error-nobody", path: "/login/oidc/callback?%zz", view: fine, change: playing(cast{mode: "local", offers: local})},
	}
}

// accountScenes are the settings.
func accountScenes() []scene {
	fine := newStory().View()
	local := auth.Offers{Password: true}
	post := func(pairs ...string) []func(*http.Request) {
		return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, formOf(pairs...)}
	}
	mine := cast{mode: "local,oidc", offers: local, me: anna}
	refused := mine
	refused.refusal = fault.New(fault.Invalid, "A password has at least 12 characters.")
	return []scene{
		{name: "settings", path: "/settings", view: fine, change: playing(mine)},
		{name: "settings-done", path: "/settings?done=password", view: fine, change: playing(mine)},
		{name: "settings-refused", path: "/settings/password", view: fine, change: playing(refused), ask: post("present", "x", "password", "y")},
		{
			name:   "settings-token",
			path:   "/settings/tokens",
			view:   fine,
			change: playing(mine),
			ask:    post("name", "ticket bot", "role", "support", "days", "90"),
		},
		{name: "settings-viewer", path: "/settings", view: fine, change: playing(cast{mode: "oidc", me: vera})},
		{name: "settings-bot", path: "/settings", view: fine, change: playing(cast{mode: "local", me: bot, empty: true})},
		{name: "settings-none", path: "/settings", view: fine},
		{name: "users", path: "/settings/users", view: fine, change: playing(mine)},
		{name: "users-done", path: "/settings/users?done=user", view: fine, change: playing(mine)},
		{
			name:   "users-refused",
			path:   "/settings/users",
			view:   fine,
			change: playing(refused),
			ask:    post("name", "new", "password", "short", "role", "viewer"),
		},
		{name: "users-none", path: "/settings/users", view: fine},
		{name: "users-denied", path: "/settings/users", view: fine, change: playing(cast{mode: "oidc", me: vera})},
		{name: "duplicates-viewer", path: "/checks/duplicates", view: fine, change: playing(cast{mode: "oidc", me: vera})},
	}
}
