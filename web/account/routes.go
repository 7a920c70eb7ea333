package account

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	ofSession = []site.Param{site.InPath("id", "a session's id")}
	ofToken   = []site.Param{site.InPath("id", "a token's id")}
	ofUser    = []site.Param{site.InPath("name", "an account's name, path-escaped once")}

	paramNext      = site.Query("next", "a page of this site to go on to")
	pageOrRedirect = []int{http.StatusOK, http.StatusSeeOther}
)

// Routes that lead in and out, and those about people: oneself, and for an admin
// everybody.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/login", Summary: "Sign in", Policy: guard.PolicyOpen, Handler: SignInPage, Status: pageOrRedirect,
		Params: []site.Param{paramNext, site.Query("ended", "1 says that a session is over"),
			site.Query("out", "issuer says that the session there goes on")}}),
	site.Form(site.Route{Pattern: "/login", Summary: "Sign in by name and password", Policy: guard.PolicyOpen, Handler: SignIn}),
	site.Page(site.Route{Pattern: "/login/first", Summary: "Become the first admin, by the link that the server printed",
		Policy: guard.PolicyOpen, Handler: FirstAdminPage, Status: pageOrRedirect,
		Params: []site.Param{site.Query("key", "secret of that link")}}),
	site.Form(site.Route{Pattern: "/login/first", Summary: "Make the first admin and sign in", Policy: guard.PolicyOpen,
		Handler: CreateFirstAdmin}),
	site.Form(site.Route{Pattern: "/login/oidc", Summary: "Go to the OpenID Connect issuer",
		Policy: guard.PolicyOpen, Handler: StartOIDC, Status: pageOrRedirect}),
	site.Page(site.Route{Pattern: "/login/oidc/callback", Summary: "Return from the OpenID Connect issuer", Policy: guard.PolicyOpen,
		Handler: FinishOIDC, Status: []int{http.StatusSeeOther},
		Params: []site.Param{site.Query("code", "the issuer's"), site.Query("state", "ours"), site.Query("error", "the issuer's"),
			site.Query("iss", "the issuer's name, where it sends it")}}),
	site.Form(site.Route{Pattern: "/logout", Summary: "Sign out", Policy: guard.PolicySelf, Handler: SignOut, Status: pageOrRedirect}),

	site.Page(site.Route{Pattern: "/settings", Summary: "Own password, sessions and tokens", Policy: guard.PolicySelf, Handler: SettingsPage}),
	site.Form(site.Route{Pattern: "/settings/password", Summary: "Change one's own password", Policy: guard.PolicySelf,
		Handler: ChangePassword}),
	site.Form(site.Route{Pattern: "/settings/tokens", Summary: "Create a token; its secret is shown once", Policy: guard.PolicySelf,
		Handler: CreateToken, Status: []int{http.StatusOK}}),
	site.Page(site.Route{Pattern: "/settings/users", Summary: "Users and their sessions", Policy: guard.PolicyAdmin, Handler: UsersPage}),
	site.Form(site.Route{Pattern: "/settings/users/{name}", Summary: "Change a user's role or password, disable or enable",
		Policy: guard.PolicyAdmin, Params: ofUser, Handler: ChangeUser}),

	site.Asked(site.Route{Pattern: "/me", Summary: "The caller's account and permissions", Policy: guard.PolicySelf}, me),
	site.Asked(site.Route{Pattern: "/sessions", Summary: "Own sessions; everybody's for an admin, none for a token below admin",
		Policy: guard.PolicySelf}, sessions),
	revoke("session", "End a session", ofSession, guard.Authenticator.Revoke),
	site.Asked(site.Route{Pattern: "/tokens", Summary: "Own tokens; everybody's for an admin, only itself for a token below admin",
		Policy: guard.PolicySelf}, tokens),
	site.Post(site.Route{Pattern: "/tokens", Summary: "Create a token; its secret is in this answer only", Policy: guard.PolicySelf,
		Body: api.TokenCreate{}, Answer: api.TokenCreated{}, Handler: CreateTokenJSON}),
	revoke("token", "Revoke a token", ofToken, guard.Authenticator.RevokeToken),
	site.Asked(site.Route{Pattern: "/users", Summary: "Accounts of shardboard's own", Policy: guard.PolicyAdmin}, users),
	site.Change[api.UserCreate, api.User]{
		Route: site.Route{Pattern: "/users", Summary: "Add a user", Policy: guard.PolicyAdmin},
		Form:  "/settings/users", Do: addUser,
		Leads: func(*http.Request, api.User) string { return "/settings/users?done=user" },
		Refused: func(s *site.Site, w http.ResponseWriter, r *http.Request, _ api.UserCreate, err error) error {
			return usersProblem(s, w, r, err)
		},
	},
	site.Post(site.Route{Pattern: "/users/{name}", Summary: "Change a user's role or password, disable or enable", Policy: guard.PolicyAdmin,
		Params: ofUser,
		Body:   api.UserChange{}, Answer: api.User{}, Handler: ChangeUserJSON}),
)

func me(_ *site.Site, r *http.Request) (api.Me, error) {
	return auditing.Me(auth.From(r.Context())), nil
}

func sessions(s *site.Site, r *http.Request) (api.List[api.Session], error) {
	items, err := auditing.Sessions(r.Context(), s.Deps.Access.Auth, auth.From(r.Context()))
	return api.List[api.Session]{Items: items, AsOf: s.Deps.Now()}, err
}

func tokens(s *site.Site, r *http.Request) (api.List[api.Token], error) {
	items, err := auditing.Tokens(r.Context(), s.Deps.Access.Auth, auth.From(r.Context()), s.Deps.Now())
	return api.List[api.Token]{Items: items, AsOf: s.Deps.Now()}, err
}

func users(s *site.Site, r *http.Request) (api.List[api.User], error) {
	items, err := auditing.Users(r.Context(), s.Deps.Access.Auth, auth.From(r.Context()))
	return api.List[api.User]{Items: items, AsOf: s.Deps.Now()}, err
}
