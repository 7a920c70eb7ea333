package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/account"
	"shardboard/web/guard"
	"shardboard/web/site"
)

type handlerFunc = func(*site.Site, http.ResponseWriter, *http.Request) error

// signInRoutes lead in and out.
func signInRoutes() []site.Route {
	get := func(pattern, summary string, h handlerFunc, params ...site.Param) site.Route {
		return site.Route{Method: "GET", Pattern: pattern, Policy: guard.PolicyOpen, Tag: site.TagPages, Summary: summary,
			Params: params, Types: []string{site.MediaHTML}, Handler: h}
	}
	next := site.Query("next", "a page of this site to go on to")
	return []site.Route{
		site.Answering(get("/login", "Sign in", account.PageLogin, next, site.Query("ended", "1 says that a session is over")), http.StatusOK, http.StatusSeeOther),
		site.Form("/login", guard.PolicyOpen, "Sign in by name and password", account.PostLogin, site.MediaHTML),
		site.Answering(get("/login/first", "Become the first admin, by the link that the server printed", account.PageFirst, site.Query("key", "secret of that link")),
			http.StatusOK, http.StatusSeeOther),
		site.Form("/login/first", guard.PolicyOpen, "Make the first admin and sign in", account.PostFirst, site.MediaHTML),
		site.Answering(site.Form("/login/oidc", guard.PolicyOpen, "To the OpenID Connect issuer, by a page that leads there", account.PostOIDC, site.MediaHTML),
			http.StatusOK, http.StatusSeeOther),
		site.Answering(get("/login/oidc/callback", "Back from the OpenID Connect issuer", account.FinishOIDC,
			site.Query("code", "the issuer's"), site.Query("state", "ours"), site.Query("error", "the issuer's")), http.StatusSeeOther),
		site.Form("/logout", guard.PolicySelf, "Sign out", account.PostLogout, site.MediaHTML),
	}
}

// accountRoutes are about people: oneself, and for an admin everybody.
func accountRoutes() []site.Route {
	get := func(pattern string, p guard.Policy, summary string, h handlerFunc) site.Route {
		return site.Route{Method: "GET", Pattern: pattern, Policy: p, Tag: site.TagPages, Summary: summary, Types: []string{site.MediaHTML}, Handler: h}
	}
	with := func(r site.Route, params ...site.Param) site.Route {
		r.Params = params
		return r
	}
	list := func(path string, p guard.Policy, summary string, answer any, h handlerFunc) site.Route {
		return site.Route{Method: "GET", Pattern: api.Prefix + path, Policy: p, Tag: site.TagAPI, Summary: summary, Answer: answer, Handler: h}
	}
	do := func(path string, p guard.Policy, summary string, body, answer any, h handlerFunc, params ...site.Param) site.Route {
		return site.Route{Method: "POST", Pattern: api.Prefix + path, Policy: p, Tag: site.TagAPI, Summary: summary,
			Params: params, Body: body, Answer: answer, Handler: h}
	}
	session, token := site.InPath("id", "a session's id"), site.InPath("id", "a token's id")
	user := site.InPath("name", "an account's name, path-escaped once")
	return []site.Route{
		get("/settings", guard.PolicySelf, "Own password, sessions and tokens", account.PageSettings),
		site.Form("/settings/password", guard.PolicySelf, "Change one's own password", account.PostPassword, site.MediaHTML),
		with(site.Form("/settings/sessions/{id}/revoke", guard.PolicySelf, "End a session", account.PostRevokeSession, site.MediaHTML), session),
		site.Answering(site.Form("/settings/tokens", guard.PolicySelf, "Make a token; its secret is shown once", account.PostToken, site.MediaHTML), http.StatusOK),
		with(site.Form("/settings/tokens/{id}/revoke", guard.PolicySelf, "Revoke a token", account.PostRevokeToken, site.MediaHTML), token),
		get("/settings/users", guard.PolicyAdmin, "Users, and who is in", account.PageUsers),
		site.Form("/settings/users", guard.PolicyAdmin, "Add a user", account.PostUser, site.MediaHTML),
		with(site.Form("/settings/users/{name}", guard.PolicyAdmin, "Change a user's role or password, disable or enable", account.PostUserChange, site.MediaHTML), user),

		list("/me", guard.PolicySelf, "Who is asking, and what they may", api.Me{}, account.ApiMe),
		list("/sessions", guard.PolicySelf, "Own sessions; everybody's for an admin, none for a token below admin", api.List[api.Session]{}, account.ApiSessions),
		do("/sessions/{id}/revoke", guard.PolicySelf, "End a session", nil, api.Done{}, account.ApiRevokeSession, session),
		list("/tokens", guard.PolicySelf, "Own tokens; everybody's for an admin, only itself for a token below admin", api.List[api.Token]{}, account.ApiTokens),
		do("/tokens", guard.PolicySelf, "Make a token; its secret is in this answer only", api.TokenCreate{}, api.TokenCreated{}, account.ApiCreateToken),
		do("/tokens/{id}/revoke", guard.PolicySelf, "Revoke a token", nil, api.Done{}, account.ApiRevokeToken, token),
		list("/users", guard.PolicyAdmin, "Accounts of shardboard's own", api.List[api.User]{}, account.ApiUsers),
		do("/users", guard.PolicyAdmin, "Add a user", api.UserCreate{}, api.User{}, account.ApiCreateUser),
		do("/users/{name}", guard.PolicyAdmin, "Change a user's role or password, disable or enable", api.UserChange{}, api.User{}, account.ApiChangeUser, user),
	}
}
