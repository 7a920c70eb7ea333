package storybook

import (
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/webtest"
)

// seenBy makes scenes of a page as somebody sees it, or of what a form of theirs leads to.
func seenBy(v answer.View) func(name, path string, who webtest.StubAuth, ask ...func(*http.Request)) webtest.Scene {
	return func(name, path string, who webtest.StubAuth, ask ...func(*http.Request)) webtest.Scene {
		return webtest.Scene{Name: name, Path: path, View: v, Change: webtest.WithAuth(who), Ask: ask}
	}
}

// post sends a form.
func post(pairs ...string) []func(*http.Request) {
	return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, webtest.Form(pairs...)}
}

// SignInScenes are the pages before sign-in.
func SignInScenes() []webtest.Scene {
	fine := webtest.NewStory().View()
	local := auth.Offers{Password: true}
	wrong := webtest.StubAuth{SignInMode: "local", SignInOffers: local, Refusal: auth.ErrCredentials}
	as := seenBy(fine)
	return []webtest.Scene{
		as("login", "/login", webtest.StubAuth{SignInMode: "local", SignInOffers: local}),
		as("login-ended", "/login?ended=1&next=%2Fcollections", webtest.StubAuth{SignInMode: "local", SignInOffers: local}),
		as("login-both", "/login", webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: auth.Offers{Password: true, OIDC: true}}),
		as("login-oidc", "/login", webtest.StubAuth{SignInMode: "oidc", SignInOffers: auth.Offers{OIDC: true}}),
		as("login-leave", "/login/oidc",
			webtest.StubAuth{SignInMode: "oidc", SignInOffers: auth.Offers{OIDC: true}}, post("next", "/zones")...),
		as("login-proxy", "/login", webtest.StubAuth{SignInMode: "proxy"}),
		as("login-first", "/login", webtest.StubAuth{SignInMode: "local", SignInOffers: auth.Offers{Password: true, First: true}}),
		as("login-readonly", "/login", webtest.StubAuth{SignInMode: "local", SignInOffers: auth.Offers{Password: true, ReadOnly: true}}),
		as("login-wrong", "/login", wrong, post("name", "anna", "password", "x")...),
		as("login-toomany", "/login",
			webtest.StubAuth{SignInMode: "local", SignInOffers: local, Refusal: &auth.TooMany{Wait: 42 * time.Second}},
			post("name", "anna", "password", "x")...),
		as("login-refused", "/login/oidc",
			webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: auth.Offers{Password: true, OIDC: true}, Refusal: webtest.NoGroups()},
			post()...),
		as("first", "/login/first?key=abcdefgh", webtest.StubAuth{SignInMode: "local"}),
		as("first-wrong", "/login/first",
			webtest.StubAuth{SignInMode: "local", Refusal: auth.ErrLink}, post("key", "k", "name", "anna", "password", "x")...),
		as("error-nobody", "/login/oidc/callback?%zz", webtest.StubAuth{SignInMode: "local", SignInOffers: local}),
	}
}

// AccountScenes are the settings.
func AccountScenes() []webtest.Scene {
	fine := webtest.NewStory().View()
	local := auth.Offers{Password: true}
	as := seenBy(fine)
	mine := webtest.StubAuth{SignInMode: "local,oidc", SignInOffers: local, Me: webtest.Anna}
	refused := mine
	refused.Refusal = fault.New(fault.Invalid, "A password has at least 12 characters.")
	return []webtest.Scene{
		as("settings", "/settings", mine),
		as("settings-done", "/settings?done=password", mine),
		as("settings-refused", "/settings/password", refused, post("present", "x", "password", "y")...),
		as("settings-token", "/settings/tokens", mine, post("name", "ticket bot", "role", "support", "days", "90")...),
		as("settings-viewer", "/settings", webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
		as("settings-bot", "/settings", webtest.StubAuth{SignInMode: "local", Me: webtest.Bot, Empty: true}),
		{Name: "settings-none", Path: "/settings", View: fine},
		as("users", "/settings/users", mine),
		as("users-done", "/settings/users?done=user", mine),
		as("users-refused", "/settings/users", refused, post("name", "new", "password", "short", "role", "viewer")...),
		{Name: "users-none", Path: "/settings/users", View: fine},
		as("users-denied", "/settings/users", webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
		as("duplicates-viewer", "/checks/duplicates", webtest.StubAuth{SignInMode: "oidc", Me: webtest.Vera}),
	}
}
