package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
	"shardboard/web/site"
)

// GoodPassword is the password of every account of an AccountServer.
const GoodPassword = "correct horse battery"

// AccountServer is the site with real sign-in over a real store. Its accounts are named after their roles.
type AccountServer struct {
	*Server
	T       testing.TB
	Service *auth.Service
	Cookies map[string]*http.Cookie

	mu sync.Mutex
	at time.Time
}

// Now is the time on the clock of the server.
func (d *AccountServer) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

// Pass moves the clock of the server forward.
func (d *AccountServer) Pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.at.Add(by)
}

// Person is a sender of requests and the proof that they send.
type Person struct {
	Name  string
	Role  auth.Role // "" for who is not let in at all
	Proof func(*http.Request)
}

// NewAccountServer has the accounts expired, viewer, support, operator, admin and owner, all signed in.
// The session of expired has ended.
func NewAccountServer(t testing.TB, change ...func(*site.Deps)) *AccountServer {
	t.Helper()
	d := &AccountServer{T: t, at: Epoch, Cookies: map[string]*http.Cookie{}}
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	d.Service, err = auth.New(auth.Options{Store: db, Now: d.Now, Mode: auth.ModeLocal, Cost: auth.Cost{Memory: 64, Time: 1}})
	must.Do(t, err)
	d.Server = New(t, append([]func(*site.Deps){func(deps *site.Deps) { deps.Access.Auth = d.Service }}, change...)...)
	root := auth.Principal{ID: "user:root", Name: "root", Role: auth.Admin, Method: auth.ByPassword}
	for _, name := range []string{"expired", "viewer", "support", "operator", "admin", "owner"} {
		role := auth.Role(name)
		if !role.Known() {
			role = auth.Viewer
		}
		if _, err := d.Service.CreateUser(t.Context(), root, auth.NewUser{Name: name, Password: GoodPassword, Role: role}); err != nil {
			t.Fatal(err)
		}
		d.SignIn(name)
		if name == "expired" {
			d.Pass(8*time.Hour + time.Minute)
		}
	}
	return d
}

// SignIn gets a fresh session for an account by the form.
func (d *AccountServer) SignIn(name string) *http.Cookie {
	d.T.Helper()
	w := d.Ask(d.Handler(), "POST", "/login", Form("name", name, "password", GoodPassword))
	for _, c := range w.Result().Cookies() {
		d.Cookies[name] = c
		return c
	}
	d.T.Fatalf("sign in as %s: %d %s", name, w.Code, w.Body)
	return nil
}

// With sends the cookie of an account.
func (d *AccountServer) With(name string) func(*http.Request) {
	c := d.Cookies[name]
	return func(r *http.Request) { r.AddCookie(c) }
}

// Principal is who the cookie of an account stands for.
func (d *AccountServer) Principal(name string) auth.Principal {
	d.T.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(d.Cookies[name])
	p, err := d.Service.Identify(httptest.NewRecorder(), r)
	must.Do(d.T, err)
	return p
}

// People are one person for each role, and three who are not let in: without a cookie, with an expired
// and with a forged one.
func (d *AccountServer) People() []Person {
	out := []Person{
		{"nobody", "", func(*http.Request) {}},
		{"expired", "", d.With("expired")},
		{"forged", "", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: d.Cookies["admin"].Name, Value: strings.Repeat("A", len(d.Cookies["admin"].Value))})
		}},
	}
	for _, role := range auth.Roles() {
		out = append(out, Person{string(role), role, d.With(string(role))})
	}
	return out
}

// Veterans were signed in when their role changed: the session of some rotates with the next request;
// that of former has rotated already, so that the old cookie is void.
func (d *AccountServer) Veterans() []Person {
	d.T.Helper()
	root := auth.Principal{ID: "user:root", Name: "root", Role: auth.Admin, Method: auth.ByPassword}
	out := []Person{}
	for _, v := range []struct {
		name     string
		was, has auth.Role
	}{{"former", auth.Viewer, auth.Admin}, {"demoted", auth.Admin, auth.Viewer}, {"promoted", auth.Viewer, auth.Operator}} {
		if _, err := d.Service.CreateUser(d.T.Context(), root, auth.NewUser{Name: v.name, Password: GoodPassword, Role: v.was}); err != nil {
			d.T.Fatal(err)
		}
		d.SignIn(v.name)
		must.Do(d.T, d.Service.SetRole(d.T.Context(), root, v.name, v.has))
		if v.name == "former" {
			d.Principal(v.name)
			d.Pass(time.Minute)
			v.has = ""
		}
		out = append(out, Person{v.name, v.has, d.With(v.name)})
	}
	return out
}

// Ask sends a request to a handler, with the address exactly as it is written.
func (d *AccountServer) Ask(h http.Handler, method, address string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	path, query, _ := strings.Cut(address, "?")
	r := httptest.NewRequest(method, path, nil)
	r.URL.RawQuery, r.RequestURI = query, address
	r.Host = "localhost:8090"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Form is the body of a form, from names and values in turn.
func Form(pairs ...string) func(*http.Request) {
	in := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		in.Set(pairs[i], pairs[i+1])
	}
	return EncodedForm(in.Encode())
}

// EncodedForm is the body of a form that is encoded already.
func EncodedForm(encoded string) func(*http.Request) {
	return func(r *http.Request) {
		Body(encoded)(r)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
}

// Call sends a request to the JSON API as an account.
func (d *AccountServer) Call(method, path, who, in string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	if in != "" {
		change = append(change, Body(in), Header("Content-Type", "application/json"))
	}
	if who != "" {
		change = append(change, d.With(who))
	}
	return d.Ask(d.Handler(), method, api.Prefix+path, change...)
}
