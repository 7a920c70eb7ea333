package storybook

import (
	"net/http"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/webtest"
)

// SignInScenes are the pages before sign-in.
func SignInScenes() []webtest.Scene {
	fine := webtest.NewStory().View()
	local := auth.Offers{Password: true}
	wrong := webtest.StubAuth{SignInMode: "local", SignInOffers: local, Refusal: auth.ErrCredentials}
	post := func(path string, pairs ...string) []func(*http.Request) {
		return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, webtest.Form(pairs...)}
	}
	return []webtest.Scene{
		{Name: "login", Path: "/login", View: fine, Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: local})},
		{
			Name:   "login-ended",
			Path:   "/login?ended=1&next=%2Fcollections",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: local}),
		},
		{
			Name:   "login-both",
			Path:   "/login",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: auth.Offers{Password: true, OIDC: true}}),
		},
		{
			Name:   "login-oidc",
			Path:   "/login",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "oidc", SignInOffers: auth.Offers{OIDC: true}}),
		},
		{
			Name:   "login-leave",
			Path:   "/login/oidc",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "oidc", SignInOffers: auth.Offers{OIDC: true}}),
			Ask:    post("/login/oidc", "next", "/zones"),
		},
		{Name: "login-proxy", Path: "/login", View: fine, Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "proxy"})},
		{
			Name:   "login-first",
			Path:   "/login",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: auth.Offers{Password: true, First: true}}),
		},
		{
			Name:   "login-readonly",
			Path:   "/login",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: auth.Offers{Password: true, ReadOnly: true}}),
		},
		{Name: "login-wrong", Path: "/login", View: fine, Change: webtest.WithAuth(wrong), Ask: post("/login", "name", "anna", "password", "x")},
		{
			Name:   "login-toomany",
			Path:   "/login",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: local, Refusal: &auth.TooMany{Wait: 42 * time.Second}}),
			Ask:    post("/login", "name", "anna", "password", "x"),
		},
		{
			Name: "login-refused",
			Path: "/login/oidc",
			View: fine,
			Change: webtest.WithAuth(
				webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: auth.Offers{Password: true, OIDC: true}, Refusal: webtest.NoGroups()},
			),
			Ask: post("/login/oidc"),
		},
		{Name: "first", Path: "/login/first?key=abcdefgh", View: fine, Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local"})},
		{
			Name:   "first-wrong",
			Path:   "/login/first",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Refusal: auth.ErrLink}),
			Ask:    post("/login/first", "key", "k", "name", "anna", "password", "x"),
		},
		{
			Name:   "error-nobody",
			Path:   "/login/oidc/callback?%zz",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", SignInOffers: local}),
		},
	}
}

// AccountScenes are the settings.
func AccountScenes() []webtest.Scene {
	fine := webtest.NewStory().View()
	local := auth.Offers{Password: true}
	post := func(pairs ...string) []func(*http.Request) {
		return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, webtest.Form(pairs...)}
	}
	mine := webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: local, Me: webtest.Anna}
	refused := mine
	refused.Refusal = fault.New(fault.Invalid, "A password has at least 12 characters.")
	return []webtest.Scene{
		{Name: "settings", Path: "/settings", View: fine, Change: webtest.WithAuth(mine)},
		{Name: "settings-done", Path: "/settings?done=password", View: fine, Change: webtest.WithAuth(mine)},
		{
			Name:   "settings-refused",
			Path:   "/settings/password",
			View:   fine,
			Change: webtest.WithAuth(refused),
			Ask:    post("present", "x", "password", "y"),
		},
		{
			Name:   "settings-token",
			Path:   "/settings/tokens",
			View:   fine,
			Change: webtest.WithAuth(mine),
			Ask:    post("name", "ticket bot", "role", "support", "days", "90"),
		},
		{
			Name:   "settings-viewer",
			Path:   "/settings",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
		},
		{
			Name:   "settings-bot",
			Path:   "/settings",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Bot, Empty: true}),
		},
		{Name: "settings-none", Path: "/settings", View: fine},
		{Name: "users", Path: "/settings/users", View: fine, Change: webtest.WithAuth(mine)},
		{Name: "users-done", Path: "/settings/users?done=user", View: fine, Change: webtest.WithAuth(mine)},
		{
			Name:   "users-refused",
			Path:   "/settings/users",
			View:   fine,
			Change: webtest.WithAuth(refused),
			Ask:    post("name", "new", "password", "short", "role", "viewer"),
		},
		{Name: "users-none", Path: "/settings/users", View: fine},
		{
			Name:   "users-denied",
			Path:   "/settings/users",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
		},
		{
			Name:   "duplicates-viewer",
			Path:   "/checks/duplicates",
			View:   fine,
			Change: webtest.WithAuth(webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
		},
	}
}
