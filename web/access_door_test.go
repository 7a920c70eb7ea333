package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/store/sqlite"
	"shardboard/web/site"
)

const goodPassword = "correct horse battery"

// door is a site with the real sign-in over a real store, and one account of
// each role.
type door struct {
	*testSite
	t       testing.TB
	service *auth.Service
	cookies map[string]*http.Cookie

	mu sync.Mutex
	at time.Time
}

func (d *door) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}

func (d *door) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.at.Add(by)
}

// person is somebody at the door with what they bring.
type person struct {
	name  string
	role  auth.Role // "" for who is not let in at all
	proof func(*http.Request)
}

func newDoor(t testing.TB, change ...func(*site.Deps)) *door {
	t.Helper()
	d := &door{t: t, at: epoch, cookies: map[string]*http.Cookie{}}
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d.service, err = auth.New(auth.Options{Store: db, Now: d.now, Mode: auth.ModeLocal, Cost: auth.Cost{Memory: 64, Time: 1}})
	if err != nil {
		t.Fatal(err)
	}
	d.testSite = newSite(t, append([]func(*site.Deps){func(deps *site.Deps) { deps.Auth = d.service }}, change...)...)
	root := auth.Principal{ID: "user:root", Name: "root", Role: auth.Admin, Method: auth.ByPassword}
	for _, name := range []string{"expired", "viewer", "support", "operator", "admin", "owner"} {
		role := auth.Role(name)
		if !role.Known() {
			role = auth.Viewer
		}
		if _, err := d.service.CreateUser(t.Context(), root, auth.NewUser{Name: name, Password: goodPassword, Role: role}); err != nil {
			t.Fatal(err)
		}
		d.signIn(name)
		if name == "expired" {
			d.pass(8*time.Hour + time.Minute)
		}
	}
	return d
}

// signIn gets a fresh session for an account by the form.
func (d *door) signIn(name string) *http.Cookie {
	d.t.Helper()
	w := d.ask(d.Handler(), "POST", "/login", formOf("name", name, "password", goodPassword))
	for _, c := range w.Result().Cookies() {
		d.cookies[name] = c
		return c
	}
	d.t.Fatalf("sign in as %s: %d %s", name, w.Code, w.Body)
	return nil
}

func (d *door) with(name string) func(*http.Request) {
	c := d.cookies[name]
	return func(r *http.Request) { r.AddCookie(c) }
}

func (d *door) principal(name string) auth.Principal {
	d.t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(d.cookies[name])
	p, err := d.service.Identify(httptest.NewRecorder(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// people are everybody that the matrix knows.
func (d *door) people() []person {
	out := []person{
		{"nobody", "", func(*http.Request) {}},
		{"expired", "", d.with("expired")},
		{"forged", "", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: d.cookies["admin"].Name, Value: strings.Repeat("A", len(d.cookies["admin"].Value))})
		}},
	}
	for _, role := range auth.Roles() {
		out = append(out, person{string(role), role, d.with(string(role))})
	}
	return out
}

// veterans were signed in when their role changed: one whose session rotates at
// the first request, and one whose former secret is no more.
func (d *door) veterans() []person {
	d.t.Helper()
	root := auth.Principal{ID: "user:root", Name: "root", Role: auth.Admin, Method: auth.ByPassword}
	out := []person{}
	for _, v := range []struct {
		name     string
		was, has auth.Role
	}{{"former", auth.Viewer, auth.Admin}, {"demoted", auth.Admin, auth.Viewer}, {"promoted", auth.Viewer, auth.Operator}} {
		if _, err := d.service.CreateUser(d.t.Context(), root, auth.NewUser{Name: v.name, Password: goodPassword, Role: v.was}); err != nil {
			d.t.Fatal(err)
		}
		d.signIn(v.name)
		if err := d.service.SetRole(d.t.Context(), root, v.name, v.has); err != nil {
			d.t.Fatal(err)
		}
		if v.name == "former" {
			d.principal(v.name)
			d.pass(time.Minute)
			v.has = ""
		}
		out = append(out, person{v.name, v.has, d.with(v.name)})
	}
	return out
}

func (d *door) ask(h http.Handler, method, address string, change ...func(*http.Request)) *httptest.ResponseRecorder {
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

// formOf is the body of a form from names and values.
func formOf(pairs ...string) func(*http.Request) {
	in := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		in.Set(pairs[i], pairs[i+1])
	}
	return form0(in.Encode())
}

func form0(encoded string) func(*http.Request) {
	return func(r *http.Request) {
		body(encoded)(r)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
}
