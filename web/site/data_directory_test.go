package site_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestReadinessAndMetricsTellOfTheDataDirectory(t *testing.T) {
	for _, h := range store.Holds() {
		for _, exposed := range []bool{false, true} {
			if exposed && h != store.Vanished {
				continue
			}
			s := webtest.New(t, webtest.WithDataHeld(h), func(d *site.Deps) { d.Access.Exposed = exposed })
			want := http.StatusOK
			if h == store.Vanished || h == store.Unreadable || h == store.Unreachable {
				want = http.StatusServiceUnavailable
			}
			w := s.Do("GET", "/readyz")
			var ready api.Ready
			err := json.Unmarshal(w.Body.Bytes(), &ready)
			expect.That(t, err == nil && w.Code == want && ready.Ready == (want == http.StatusOK) &&
				(ready.Ready || ready.Reason == "It is "+string(h)+"."), "%s, exposed %v: %d %s", h, exposed, w.Code, w.Body)
			metrics := s.Do("GET", "/metrics").Body.String()
			for _, other := range store.Holds() {
				line := `shardboard_data_directory{hold="` + string(other) + `"} `
				is := strings.Contains(metrics, line+"1\n")
				expect.That(t, is == (h == other) && (is || strings.Contains(metrics, line+"0\n")), "%s: the metric of %s is wrong", h, other)
			}
			state := webtest.Decode[api.DataDirectory](t, s.Do("GET", "/api/v1/data"))
			if state.Hold != string(h) || state.Writable != (h == store.Owned) || (state.Why == "") != (h == store.Owned) || state.Since == nil ||
				!state.Since.Equal(webtest.Epoch) {
				t.Errorf("%s: %+v", h, state)
			}
		}
	}
}

// The dot in the header is live: it changes on pages that are open.
func TestTheStatusSaysThatTheDataDirectoryIsLost(t *testing.T) {
	for _, h := range store.Holds() {
		s := webtest.New(t, webtest.WithDataHeld(h))
		got := problems.Status(s.View())
		lost := h == store.Vanished || h == store.Unreadable
		expect.That(t, lost == strings.Contains(got.Text, "data directory is lost") && (!lost || got.Level == "failed"), "%s: %+v", h, got)
	}
}

func TestTakingOverIsOfferedToAdminsWhenTheOwnerIsGone(t *testing.T) {
	for _, h := range store.Holds() {
		s := webtest.New(t, webtest.WithPeople, webtest.WithDataHeld(h))
		for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Admin} {
			n := s.Page(t, "/", webtest.As("anna", role)).
				Find("main form[action='/data/takeover'][method=post] button").
				Length()
			expect.Equal(t, n == 1, h == store.OwnerGone && role == auth.Admin, "%s, %s: one button", h, role)
		}
	}
}

func TestTakingOverIsAskedForOnceAndAnswered(t *testing.T) {
	d := &webtest.DataDirectory{Now: store.Condition{Hold: store.OwnerGone, Since: webtest.Epoch}}
	s := webtest.New(t, webtest.WithPeople, d.Of)
	w := s.Do("POST", "/data/takeover", webtest.As("anna", auth.Admin))
	expect.That(t, w.Code == http.StatusSeeOther && w.Header().Get("Location") == "/", "form: %d %s", w.Code, w.Body)
	got := webtest.Decode[api.DataDirectory](t, s.Do("POST", "/api/v1/data/takeover", webtest.As("anna", auth.Admin)))
	expect.That(t, got.Writable && got.Hold == string(store.Owned), "%+v", got)
	for _, address := range []string{"/data/takeover", "/api/v1/data/takeover"} {
		expect.Equal(t, s.Do("POST", address, webtest.As("olga", auth.Operator)).Code, http.StatusForbidden, "%s by an operator", address)
	}
	expect.Equal(t, len(d.Taken), 2, "taken over: %v", d.Taken)
	d.Err = fault.New(fault.Conflict, "Somebody else was quicker.")
	for _, address := range []string{"/data/takeover", "/api/v1/data/takeover"} {
		w := s.Do("POST", address, webtest.As("anna", auth.Admin))
		expect.That(t, w.Code == http.StatusConflict && strings.Contains(w.Body.String(), "Somebody else was quicker."),
			"%s: %d %s", address, w.Code, w.Body)
	}
	w = webtest.New(t, webtest.WithPeople).Do("POST", "/api/v1/data/takeover",
		webtest.As("anna", auth.Admin))
	expect.Equal(t, w.Code, http.StatusConflict, "a server that owns its data")
}

func TestSignInPageTellsWhySignInIsImpossible(t *testing.T) {
	for h, want := range map[store.Hold]string{
		store.Owned: "", store.OwnedByAnother: "Sign in at the other one", store.OwnerGone: "has stopped",
		store.Vanished: "moved or deleted", store.Unreadable: "cannot be checked", store.Unreachable: "does not answer",
	} {
		s := webtest.New(t, webtest.WithPeople, webtest.WithDataHeld(h))
		got := s.Page(t, "/login").Find("main .note").Text()
		expect.That(t, strings.Contains(got, want) && (want != "" || got == ""), "%s: %q", h, got)
	}
}

// Whoever can connect may ask, so the answer names the trouble and no path.
func TestReadinessNamesTroubleToStrangersWithoutPathsAndTexts(t *testing.T) {
	damaged := store.Trouble{Code: store.TroubleDamaged, Cause: "/data/shardboard.db is damaged."}
	want := damaged.Title() + ". The log has the cause."
	for _, exposed := range []bool{false, true} {
		s := webtest.New(t, func(d *site.Deps) {
			d.Access.Exposed, d.Store.Trouble = exposed, func() *store.Trouble { return &damaged }
		})
		w := s.Do("GET", "/readyz")
		var ready api.Ready
		if err := json.Unmarshal(w.Body.Bytes(), &ready); err != nil || w.Code != http.StatusServiceUnavailable || ready.Reason != want {
			t.Errorf("exposed %v: %d %s", exposed, w.Code, w.Body)
		}
	}
	s := webtest.New(t)
	unread := *s.Watcher.Get()
	unread.Loaded = false
	unread.Health = map[topology.Part]topology.Health{topology.PartRouting: {Err: fault.Quote(fault.Unavailable, nil,
		"The cluster refused: not authorized on host-7.internal.", "The cluster refused: Unauthorized (13).")}}
	s.Watcher.Publish(&unread)
	text := s.Do("GET", "/readyz").Body.String()
	expect.That(t, strings.Contains(text, "Unauthorized (13)") && !strings.Contains(text, "host-7"), "a server's text: %s", text)
}
