package web

import (
	"net/http"

	"shardboard/internal/api"
)

type handlerFunc = func(*Site, http.ResponseWriter, *http.Request) error

// signInRoutes lead in and out.
func signInRoutes() []Route {
	get := func(pattern, summary string, h handlerFunc, params ...Param) Route {
		return Route{Method: "GET", Pattern: pattern, Policy: PolicyOpen, Tag: tagPages, Summary: summary,
			Params: params, Types: []string{mediaHTML}, handler: h}
	}
	next := query("next", "a page of this site to go on to")
	return []Route{
		answering(get("/login", "Sign in", (*Site).pageLogin, next, query("ended", "1 says that a session is over")), http.StatusOK, http.StatusSeeOther),
		form("/login", PolicyOpen, "Sign in by name and password", (*Site).postLogin, mediaHTML),
		answering(get("/login/first", "Become the first admin, by the link that the server printed", (*Site).pageFirst, query("key", "secret of that link")),
			http.StatusOK, http.StatusSeeOther),
		form("/login/first", PolicyOpen, "Make the first admin and sign in", (*Site).postFirst, mediaHTML),
		answering(form("/login/oidc", PolicyOpen, "To the OpenID Connect issuer, by a page that leads there", (*Site).postOIDC, mediaHTML),
			http.StatusOK, http.StatusSeeOther),
		answering(get("/login/oidc/callback", "Back from the OpenID Connect issuer", (*Site).finishOIDC,
			query("code", "the issuer's"), query("state", "ours"), query("error", "the issuer's")), http.StatusSeeOther),
		form("/logout", PolicySelf, "Sign out", (*Site).postLogout, mediaHTML),
	}
}

// accountRoutes are about people: oneself, and for an admin everybody.
func accountRoutes() []Route {
	get := func(pattern string, p Policy, summary string, h handlerFunc) Route {
		return Route{Method: "GET", Pattern: pattern, Policy: p, Tag: tagPages, Summary: summary, Types: []string{mediaHTML}, handler: h}
	}
	with := func(r Route, params ...Param) Route {
		r.Params = params
		return r
	}
	list := func(path string, p Policy, summary string, answer any, h handlerFunc) Route {
		return Route{Method: "GET", Pattern: api.Prefix + path, Policy: p, Tag: tagAPI, Summary: summary, Answer: answer, handler: h}
	}
	do := func(path string, p Policy, summary string, body, answer any, h handlerFunc, params ...Param) Route {
		return Route{Method: "POST", Pattern: api.Prefix + path, Policy: p, Tag: tagAPI, Summary: summary,
			Params: params, Body: body, Answer: answer, handler: h}
	}
	session, token := inPath("id", "a session's id"), inPath("id", "a token's id")
	user := inPath("name", "an account's name, path-escaped once")
	return []Route{
		get("/settings", PolicySelf, "Own password, sessions and tokens", (*Site).pageSettings),
		form("/settings/password", PolicySelf, "Change one's own password", (*Site).postPassword, mediaHTML),
		with(form("/settings/sessions/{id}/revoke", PolicySelf, "End a session", (*Site).postRevokeSession, mediaHTML), session),
		answering(form("/settings/tokens", PolicySelf, "Make a token; its secret is shown once", (*Site).postToken, mediaHTML), http.StatusOK),
		with(form("/settings/tokens/{id}/revoke", PolicySelf, "Revoke a token", (*Site).postRevokeToken, mediaHTML), token),
		get("/settings/users", PolicyAdmin, "Users, and who is in", (*Site).pageUsers),
		form("/settings/users", PolicyAdmin, "Add a user", (*Site).postUser, mediaHTML),
		with(form("/settings/users/{name}", PolicyAdmin, "Change a user's role or password, disable or enable", (*Site).postUserChange, mediaHTML), user),

		list("/me", PolicySelf, "Who is asking, and what they may", api.Me{}, (*Site).apiMe),
		list("/sessions", PolicySelf, "Own sessions; everybody's for an admin, none for a token below admin", api.List[api.Session]{}, (*Site).apiSessions),
		do("/sessions/{id}/revoke", PolicySelf, "End a session", nil, api.Done{}, (*Site).apiRevokeSession, session),
		list("/tokens", PolicySelf, "Own tokens; everybody's for an admin, only itself for a token below admin", api.List[api.Token]{}, (*Site).apiTokens),
		do("/tokens", PolicySelf, "Make a token; its secret is in this answer only", api.TokenCreate{}, api.TokenCreated{}, (*Site).apiCreateToken),
		do("/tokens/{id}/revoke", PolicySelf, "Revoke a token", nil, api.Done{}, (*Site).apiRevokeToken, token),
		list("/users", PolicyAdmin, "Accounts of shardboard's own", api.List[api.User]{}, (*Site).apiUsers),
		do("/users", PolicyAdmin, "Add a user", api.UserCreate{}, api.User{}, (*Site).apiCreateUser),
		do("/users/{name}", PolicyAdmin, "Change a user's role or password, disable or enable", api.UserChange{}, api.User{}, (*Site).apiChangeUser, user),
	}
}

// pagePatterns are the patterns that have a page for people to read.
func pagePatterns(table []Route) map[string]bool {
	out := map[string]bool{}
	for _, rt := range table {
		if rt.Method == http.MethodGet && rt.Tag == tagPages && rt.Policy != PolicyOpen && rt.Types[0] == mediaHTML {
			out[rt.Pattern] = true
		}
	}
	return out
}
