package account_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func TestTokenWorksUntilItIsRevokedAndItsSecretIsShownOnce(t *testing.T) {
	door := webtest.NewAccountServer(t)
	w := door.Call("POST", "/tokens", "operator", `{"name":"ci","role":"support","expires":"2026-05-01T00:00:00Z"}`)
	made := webtest.Decode[api.TokenCreated](t, w)
	must.That(t, made.Secret != "" && made.Role == "support" && made.Owner == door.Principal("operator").ID, "%+v", made)
	me := webtest.Decode[api.Me](t, door.Call("GET", "/me", "", "", webtest.Bearer(made.Secret)))
	expect.That(t, me.Role == "support" && me.Method == "token" && strings.Join(me.Roles, " ") == "viewer support", "%+v", me)
	for address, want := range map[string]int{"/cluster": 200, "/locate?q=x": 404, "/checks/duplicates": 200, "/users": 403} {
		expect.Equal(t, door.Call("GET", address, "", "", webtest.Bearer(made.Secret)).Code, want, "%s", address)
	}
	for _, address := range []string{"/tokens", "/sessions", "/me"} {
		w := door.Call("GET", address, "operator", "")
		expect.That(t, !strings.Contains(w.Body.String(), made.Secret), "%s shows the secret", address)
	}
	list := webtest.Decode[api.List[api.Token]](t, door.Call("GET", "/tokens", "operator", ""))
	expect.That(t, len(list.Items) == 1 && list.Items[0].ID == made.ID && list.Items[0].Revoked == nil, "%+v", list)
	if w := door.Call("POST", "/tokens/"+made.ID+"/revoke", "operator", ""); w.Code != http.StatusOK {
		t.Errorf("revoke: %d %s", w.Code, w.Body)
	}
	w = door.Call("GET", "/cluster", "", "", webtest.Bearer(made.Secret))
	if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != `Bearer realm="shardboard", error="invalid_token"` {
		t.Errorf("after it was revoked: %d %v", w.Code, w.Header())
	}
}

func TestAdminAddsChangesAndDisablesUsers(t *testing.T) {
	door := webtest.NewAccountServer(t)
	made := webtest.Decode[api.User](t, door.Call("POST", "/users", "admin", `{"name":"nina","password":"a long enough one","role":"viewer"}`))
	expect.That(t, made.Name == "nina" && made.Role == "viewer" && made.LastLogin == nil, "%+v", made)
	w := door.Call("POST", "/users", "admin",
		`{"name":"nina","password":"a long enough one","role":"viewer"}`)
	expect.That(t, w.Code == http.StatusConflict, "twice: %d %s", w.Code, w.Body)
	signIn := func(password string) int {
		return door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "nina", "password", password)).Code
	}
	expect.Equal(t, signIn("a long enough one"), http.StatusSeeOther, "the new user")
	changed := webtest.Decode[api.User](t, door.Call("POST", "/users/nina", "admin", `{"role":"operator","password":"quite another one"}`))
	if changed.Role != "operator" || signIn("a long enough one") == http.StatusSeeOther || signIn("quite another one") != http.StatusSeeOther {
		t.Errorf("%+v", changed)
	}
	u := webtest.Decode[api.User](t, door.Call("POST", "/users/nina", "admin", `{"disabled":true}`))
	expect.That(t, u.Disabled && signIn("quite another one") != http.StatusSeeOther, "disabled and still let in")
	for in, want := range map[string]int{`{}`: 400, `{"role":"king"}`: 400, `{"password":"short"}`: 400, `{"name":"x"}`: 400} {
		w := door.Call("POST", "/users/nina", "admin", in)
		expect.That(t, w.Code == want, "%s: %d %s", in, w.Code, w.Body)
	}
	expect.Equal(t, door.Call("POST", "/users/nobody-there", "admin", `{"role":"viewer"}`).Code, http.StatusNotFound, "no such user")
	all := webtest.Decode[api.List[api.User]](t, door.Call("GET", "/users", "admin", ""))
	text, _ := json.Marshal(all)
	expect.That(t, len(all.Items) == 7 && !strings.Contains(string(text), "argon2") && !strings.Contains(string(text), "assword"),
		"%s", text)
}

func TestFormsOfSettingsDoWhatTheySay(t *testing.T) {
	door := webtest.NewAccountServer(t)
	post := func(path, who string, pairs ...string) *httptest.ResponseRecorder {
		return door.Ask(door.Handler(), "POST", path, door.With(who), webtest.Form(pairs...))
	}
	leads := func(what string, w *httptest.ResponseRecorder, to string) {
		t.Helper()
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != to {
			t.Errorf("%s: %d to %q: %s", what, w.Code, got, webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Text())
		}
	}
	leads("add",
		post("/settings/users", "admin", "name", "nina", "password", "a long enough one", "role", "viewer"),
		"/settings/users?done=user")
	leads("role", post("/settings/users/nina", "admin", "do", "role", "role", "support"), "/settings/users?done=change")
	leads("disable", post("/settings/users/nina", "admin", "do", "disable"), "/settings/users?done=change")
	leads("enable", post("/settings/users/nina", "admin", "do", "enable"), "/settings/users?done=change")
	leads("password", post("/settings/users/nina", "admin", "do", "password", "password", "quite another one"), "/settings/users?done=change")
	expect.Equal(t, post("/settings/users/nina", "admin", "do", "crown").Code, http.StatusBadRequest, "unknown button")
	if w := post("/settings/users", "admin", "name", "nina", "password", "a long enough one", "role",
		"viewer"); w.Code != http.StatusConflict ||
		webtest.ParseHTML(t, w.Body.String()).Find("#name").AttrOr("value", "") != "nina" {
		t.Errorf("twice: %d", w.Code)
	}
	leads("own password",
		post("/settings/password", "support", "present", webtest.GoodPassword, "password", "quite another one"),
		"/settings?done=password")
	if w := post("/settings/password", "viewer", "present", "wrong one entirely", "password", "quite another one"); w.Code/100 != 4 ||
		webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Length() != 1 {
		t.Errorf("wrong present password: %d", w.Code)
	}

	w := post("/settings/tokens", "operator", "name", "ci", "role", "viewer", "days", "30")
	doc := webtest.ParseHTML(t, w.Body.String())
	secret := doc.Find("code.secret").Text()
	must.That(t, w.Code == http.StatusOK && secret != "" && w.Header().Get("Cache-Control") == "no-store", "%d %s", w.Code, w.Body)
	again := door.Ask(door.Handler(), "GET", "/settings", door.With("operator"))
	expect.That(t, !strings.Contains(again.Body.String(), secret), "the secret is shown twice")
	expect.Lacks(t, door.Log.String(), secret, "the secret is in the log")
	revoke := doc.Find("main form[action$='/revoke'][action^='/settings/tokens']").AttrOr("action", "")
	leads("revoke", post(revoke, "operator"), "/settings?done=token")
	expect.Equal(t, door.Call("GET", "/me", "", "", webtest.Bearer(secret)).Code, http.StatusUnauthorized, "revoked and still in")
	for _, days := range []string{"0", "-1", "366", "x", ""} {
		w := post("/settings/tokens", "operator", "name", "ci", "role", "viewer", "days", days)
		expect.Equal(t, w.Code, http.StatusBadRequest, "%q days", days)
	}
	session := door.Principal("owner").Session
	leads("admin ends a session", post("/settings/sessions/"+session+"/revoke", "admin", "back", "users"), "/settings/users?done=session")
	expect.Equal(t, door.Ask(door.Handler(), "GET", "/zones", door.With("owner")).Code, http.StatusSeeOther, "ended and still in")
	text := webtest.ParseHTML(t,
		door.Ask(door.Handler(), "GET", "/settings?done=<script>", door.With("admin")).Body.String()).Find("main .note").Text()
	expect.That(t, text == "", "an address says %q on the page", text)
}
