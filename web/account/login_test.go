package account_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestSigningInGivesAFreshSessionThatScriptsCannotRead(t *testing.T) {
	door := webtest.NewAccountServer(t)
	old := door.Cookies["viewer"]
	w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "viewer", "password", webtest.GoodPassword), door.With("viewer"))
	cookies := w.Result().Cookies()
	must.That(t, w.Code == http.StatusSeeOther && len(cookies) == 1, "%d %v", w.Code, cookies)
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.Value == old.Value || c.Value == "" {
		t.Errorf("%+v", c)
	}
	w = door.Ask(door.Handler(), "GET", "/zones", func(r *http.Request) { r.AddCookie(old) })
	expect.Equal(t, w.Code, http.StatusSeeOther, "the session before still works")
	door.Cookies["viewer"] = c
	w = door.Ask(door.Handler(), "POST", "/logout", door.With("viewer"))
	expect.That(t, w.Code == http.StatusSeeOther && w.Result().Cookies()[0].MaxAge < 0 && w.Header().Get("Clear-Site-Data") != "",
		"%d %v", w.Code, w.Header())
	w = door.Ask(door.Handler(), "GET", "/zones", door.With("viewer"))
	expect.Equal(t, w.Header().Get("Location"), "/login?ended=1&next=%2Fzones", "after signing out: %d", w.Code)
}

func TestRefusedSignInSaysSoAndKeepsTheName(t *testing.T) {
	door := webtest.NewAccountServer(t)
	const secret = "not the right one"
	for name, status := range map[string]int{"viewer": http.StatusForbidden, "nobody-of-that-name": http.StatusForbidden} {
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", name, "password", secret, "next", "/zones"))
		doc := webtest.ParseHTML(t, w.Body.String())
		expect.That(t, w.Code == status && len(w.Result().Cookies()) == 0, "%s: %d %v", name, w.Code, w.Result().Cookies())
		alert := doc.Find("[role=alert][autofocus][tabindex='-1']")
		expect.Equal(t, strings.TrimSpace(alert.Text()), auth.ErrCredentials.Text, "%s: %q", name, alert.Text())
		expect.That(t, doc.Find("#name").AttrOr("value", "") == name && doc.Find("input[name=next]").AttrOr("value", "") == "/zones" &&
			!strings.Contains(w.Body.String(), secret), "%s: %s", name, w.Body)
	}
	for what, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"blank":   {webtest.Form("name", "viewer", "password", ""), http.StatusBadRequest},
		"no name": {webtest.Form("name", "", "password", webtest.GoodPassword), http.StatusBadRequest},
		"1 MB":    {webtest.Form("name", "viewer", "password", strings.Repeat("x", 1<<20)), http.StatusRequestEntityTooLarge},
		"60 kB":   {webtest.Form("name", "viewer", "password", strings.Repeat("x", 60_000)), http.StatusBadRequest},
		"hostile": {webtest.Form("name", "<script>alert(1)</script>\x00", "password", "x"), http.StatusForbidden},
		"not ours": {func(r *http.Request) {
			webtest.Body(`{"name":"viewer"}`)(r)
			r.Header.Set("Content-Type", "application/json")
		},
			http.StatusUnsupportedMediaType},
		"malformed": {webtest.EncodedForm("name=%zz"), http.StatusBadRequest},
	} {
		w := door.Ask(door.Handler(), "POST", "/login", c.change)
		expect.That(t, (w.Code == c.status || what == "hostile" && w.Code == http.StatusBadRequest) && len(w.Result().Cookies()) == 0 &&
			!strings.Contains(w.Body.String(), "<script>alert"), "%s: %d %.300s", what, w.Code, w.Body)
	}
}

func TestTooManyAttemptsAreToldHowLongToWait(t *testing.T) {
	door := webtest.NewAccountServer(t)
	for range 30 {
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "support", "password", "wrong wrong wrong"))
		if w.Code != http.StatusTooManyRequests {
			continue
		}
		expect.That(t, w.Header().Get("Retry-After") != "" &&
			strings.Contains(webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Text(), w.Header().Get("Retry-After")+" s"),
			"%v %s", w.Header(), w.Body)
		door.Pass(time.Hour)
		expect.That(t, door.SignIn("support") != nil, "locked out for good")
		return
	}
	t.Error("30 attempts and none refused for being one")
}

func TestFirstAdminComesInByTheLinkOnce(t *testing.T) {
	db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = db.Close() })
	service, err := auth.New(auth.Options{Store: db, Mode: auth.ModeLocal, Cost: auth.Cost{Memory: 64, Time: 1}})
	must.Do(t, err)
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = service })
	text := s.Page(t, "/login").Find("main").Text()
	expect.Contains(t, text, "Nobody has been admin yet", "the way in says")
	link, err := service.FirstLink(t.Context())
	must.That(t, err == nil && link != "", "%v %v", link, err)
	u, _ := url.Parse(link)
	form := s.Page(t, link).Find("form[method=post][action='/login/first']")
	expect.Equal(t, form.Find("input[name=key]").AttrOr("value", ""), u.Query().Get("key"), "the form does not have the key")
	claim := func(key, password string) (int, string) {
		w := s.Do("POST", "/login/first", webtest.Form("key", key, "name", "root", "password", password))
		return w.Code, webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Text()
	}
	code, text := claim("wrong", webtest.GoodPassword)
	expect.That(t, code == http.StatusForbidden && text != "", "wrong key: %d %q", code, text)
	code, text = claim(u.Query().Get("key"), "short")
	expect.That(t, code == http.StatusBadRequest && text != "", "short password: %d %q", code, text)
	w := s.Do("POST", "/login/first", webtest.Form("key", u.Query().Get("key"), "name", "root", "password", webtest.GoodPassword))
	must.That(t, w.Code == http.StatusSeeOther && w.Header().Get("Location") == "/settings/users" && len(w.Result().Cookies()) == 1,
		"%d %v %s", w.Code, w.Header(), w.Body)
	code, _ = claim(u.Query().Get("key"), webtest.GoodPassword)
	expect.Equal(t, code, http.StatusForbidden, "a second time")
	if w := s.Do("GET", "/settings/users", func(r *http.Request) { r.AddCookie(w.Result().Cookies()[0]) }); w.Code != http.StatusOK {
		t.Errorf("the first admin's page: %d", w.Code)
	}
}

// single is sign-in by an issuer.
type single struct {
	webtest.PeopleByHeader
	next string
	err  error
}

func (s *single) Mode() auth.Mode { return "oidc" }

func (s *single) Offers(context.Context) (auth.Offers, error) {
	return auth.Offers{OIDC: true}, nil
}

func (s *single) StartOIDC(w http.ResponseWriter, _ *http.Request, next string) (string, error) {
	s.next = next
	http.SetCookie(w, &http.Cookie{Name: "shardboard_flow", Value: "x"})
	return "https://issuer.example/authorize?state=x&nonce=y", s.err
}

func (s *single) FinishOIDC(w http.ResponseWriter, _ *http.Request) (string, error) {
	return s.next, s.err
}

func TestSingleSignOnGoesThereAndBack(t *testing.T) {
	who := &single{}
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = who })
	const there = "https://issuer.example/authorize?state=x&nonce=y"
	w := s.Do("POST", "/login/oidc", webtest.Form("next", "/zones"))
	link := webtest.ParseHTML(t, w.Body.String()).Find("main a").AttrOr("href", "")
	expect.That(t, w.Code == http.StatusOK && w.Header().Get("Refresh") == "0; url="+there && link == there && who.next == "/zones" &&
		len(w.Result().Cookies()) == 1, "%d %v, link %q, back to %q", w.Code, w.Header(), link, who.next)
	w = s.Do("GET", "/login/oidc/callback?code=x&state=x")
	expect.Equal(t, w.Header().Get("Location"), "/zones", "back: %d %v", w.Code, w.Header())
	who.next = "//evil.example"
	w = s.Do("GET", "/login/oidc/callback?code=x&state=x")
	expect.Equal(t, w.Header().Get("Location"), "/", "back to elsewhere: %v", w.Header())
	for _, next := range []string{"//evil.example", "https://evil.example/", "/login", `/\evil.example`} {
		s.Do("POST", "/login/oidc", webtest.Form("next", next))
		expect.Equal(t, who.next, "", "where %q leads", next)
	}
	who.err = fault.New(fault.Unavailable, "The issuer does not answer.")
	for address, method := range map[string]string{"/login/oidc": "POST", "/login/oidc/callback": "GET"} {
		w := s.Do(method, address, webtest.Form("next", "/zones"))
		text := webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Text()
		expect.That(t, w.Code == http.StatusServiceUnavailable && text == "The issuer does not answer.", "%s: %d %q", address, w.Code, text)
	}
}

func TestARefusedSignInNamesTheClaimsAndWhatToChange(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = &single{err: webtest.NoGroups()} })
	w := s.Do("GET", "/login/oidc/callback?code=x&state=x")
	page := webtest.ParseHTML(t, w.Body.String())
	more := page.Find("section.refused")
	expect.That(t, w.Code == http.StatusForbidden && strings.Contains(page.Find("[role=alert]").Text(), "cannot tell which groups") &&
		strings.Contains(more.Text(), `The claim "groups" came neither`) &&
		strings.Contains(more.Text(), "Claims in the ID token: aud, iss, sub") &&
		strings.Contains(more.Text(), "Claims from UserInfo: <img src=x onerror=alert(1)>, realm_access.roles"), "%d %s", w.Code, more.Text())
	expect.That(t, page.Find("img").Length() == 0 && page.Find("form[action='/login/oidc']").Length() == 1,
		"a claim's name is markup, or there is no way to try again")
}

// A link, a picture or a form of another site begins no sign-in: only a click on
// our own page does.
func TestSingleSignOnTakesAClickOnOurPage(t *testing.T) {
	who := &single{next: "untouched"}
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = who })
	form := s.Page(t, "/login?next=%2Fzones").Find("form[method=post][action='/login/oidc']")
	expect.That(t, form.Find("button").Length() == 1 && form.Find("input[name=next]").AttrOr("value", "") == "/zones",
		"the sign-in page has no button that keeps the way back")
	for _, method := range []string{"GET", "HEAD"} {
		w := s.Do(method, "/login/oidc?next=/zones")
		to := w.Header().Get("Location")
		expect.That(t, w.Code == http.StatusSeeOther && strings.HasPrefix(to, "/login") &&
			!strings.HasPrefix(to, "/login/oidc") && w.Header().Get("Refresh") == "" &&
			len(w.Result().Cookies()) == 0, "%s: %d %v", method, w.Code, w.Header())
	}
	expect.Equal(t, s.Do("GET", "/login/oidc", webtest.As("anna", auth.Viewer)).Code, http.StatusMethodNotAllowed, "GET of who is in")
	for _, foreign := range []func(*http.Request){webtest.Header("Sec-Fetch-Site", "cross-site"),
		webtest.Header("Sec-Fetch-Site", "same-site"),
		webtest.Header("Origin", "https://evil.example")} {
		w := s.Do("POST", "/login/oidc", webtest.Form("next", "/zones"), foreign)
		expect.That(t, w.Code == http.StatusForbidden && len(w.Result().Cookies()) == 0, "of another site: %d %v", w.Code, w.Header())
	}
	expect.Equal(t, who.next, "untouched", "a sign-in was begun")
}

// crowded is a door at which too many people sign in at once.
type crowded struct{ webtest.OnePerson }

func (crowded) Mode() auth.Mode { return auth.ModeLocal }

func (crowded) SignIn(context.Context, auth.Credentials) (*http.Cookie, auth.Principal, error) {
	return nil, auth.Principal{}, &auth.Busy{Wait: 5 * time.Second}
}

func TestRateLimitOfSignInTellsWhenToRetry(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = crowded{} })
	w := s.Do("POST", "/login", webtest.Form("name", "anna", "password", webtest.GoodPassword))
	text := webtest.ParseHTML(t, w.Body.String()).Find("[role=alert]").Text()
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "5" || !strings.Contains(text, "Too many people sign in") {
		t.Errorf("%d, after %q: %q", w.Code, w.Header().Get("Retry-After"), text)
	}
}
