package guard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func makeToken(d *webtest.AccountServer, owner string, role auth.Role) (string, auth.Token) {
	d.T.Helper()
	secret, made, err := d.Service.CreateToken(
		d.T.Context(),
		d.Principal(owner),
		auth.NewToken{Name: "ci", Role: role, Expires: d.Now().Add(time.Hour)},
	)
	must.Do(d.T, err)
	return secret, made
}

func TestViewerTokenOfAnAdminHasNoAdminRights(t *testing.T) {
	door := webtest.NewAccountServer(t)
	admin := door.Principal("admin")
	_, other := makeToken(door, "admin", auth.Admin)
	secret, own := makeToken(door, "admin", auth.Viewer)
	list := webtest.Decode[api.List[api.Session]](t, door.Call("GET", "/sessions", "", "", webtest.Bearer(secret)))
	expect.Len(t, list.Items, 0, "it sees")
	if list := webtest.Decode[api.List[api.Token]](t, door.Call("GET", "/tokens", "", "", webtest.Bearer(secret))); len(list.Items) != 1 ||
		list.Items[0].ID != own.ID {
		t.Errorf("it sees %+v", list.Items)
	}
	for address, want := range map[string]int{
		"/api/v1/sessions/" + admin.Session + "/revoke":   http.StatusNotFound,
		"/api/v1/tokens/" + other.ID + "/revoke":          http.StatusNotFound,
		"/settings/sessions/" + admin.Session + "/revoke": http.StatusNotFound,
		"/settings/tokens/" + other.ID + "/revoke":        http.StatusNotFound,
	} {
		w := door.Ask(door.Handler(), "POST", address, webtest.Bearer(secret), webtest.EncodedForm(""))
		expect.That(t, w.Code == want, "%s: %d %s", address, w.Code, w.Body)
	}
	w := door.Call("POST", "/tokens", "",
		`{"name":"x","role":"viewer","expires":"`+door.Now().Add(time.Minute).Format(time.RFC3339)+`"}`,
		webtest.Bearer(secret))
	expect.That(t, w.Code == http.StatusForbidden, "it makes another: %d %s", w.Code, w.Body)
	expect.Equal(t, door.Call("GET", "/me", "admin", "").Code, http.StatusOK, "the admin is out")
	w = door.Call("POST", "/tokens/"+own.ID+"/revoke", "", "", webtest.Bearer(secret))
	expect.That(t, w.Code == http.StatusOK, "it cannot end itself: %d %s", w.Code, w.Body)
}

func detail(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var p api.Problem
	must.Do(t, json.Unmarshal(w.Body.Bytes(), &p))
	return p.Detail
}

func TestInvalidTokenIsRefusedWithTheRemedy(t *testing.T) {
	door := webtest.NewAccountServer(t)
	revoked, made := makeToken(door, "viewer", auth.Viewer)
	must.Do(t, door.Service.RevokeToken(t.Context(), door.Principal("viewer"), made.ID))
	expired, _ := makeToken(door, "viewer", auth.Viewer)
	door.Pass(2 * time.Hour)
	for _, secret := range []string{"sb_bogus", revoked, expired} {
		w := door.Call("GET", "/cluster", "", "", webtest.Bearer(secret))
		said := detail(t, w)
		expect.That(t, w.Code == http.StatusUnauthorized &&
			said == "The token is not valid: it is wrong, expired or revoked, or its owner is disabled. Create another "+
				"one under Settings, or ask an admin." && !strings.Contains(w.Body.String(), secret), "%.12s: %d %s", secret, w.Code, said)
		if got := w.Header().Get("WWW-Authenticate"); got != `Bearer realm="shardboard", error="invalid_token"` {
			t.Error(got)
		}
	}
	for _, change := range []func(*http.Request){webtest.Header("X-Nothing", ""), webtest.Header("Authorization", "Basic YTpi")} {
		w := door.Call("GET", "/cluster", "", "", change)
		if said := detail(t, w); w.Code != http.StatusUnauthorized ||
			said != "You are not signed in, or the session has ended. Send a token: Authorization: Bearer …" {
			t.Errorf("who sent no token: %d %s", w.Code, said)
		}
	}
}
