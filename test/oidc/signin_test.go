package oidc_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardboard/test/process"
)

var bin, cluster string // set once: the binary and the address of a simulated cluster

// TestMain keeps the provider quiet: it logs each request.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	process.Main(m)
}

// board is a running shardboard with its own provider.
type board struct {
	root string
	log  *process.Process
}

func startBoard(t *testing.T, c claims, args ...string) board {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	must(t, os.WriteFile(secret, []byte(clientSecret+"\n"), 0o600))
	all := append([]string{"serve", "--uri", cluster, "--listen", "127.0.0.1:0", "--data-dir",
		filepath.Join(dir, "data"), "--audit-key", filepath.Join(dir, "audit.key"),
		"--auth", "oidc", "--oidc-issuer", "http://" + l.Addr().String(), "--oidc-client-id", clientID, "--oidc-client-secret-file", secret,
		"--oidc-role-map", "ops=operator;staff=viewer;dba=admin"}, args...)
	p := process.Start(t, bin, all...)
	b := board{p.Line(t, `^shardboard is at (.*)/$`), p}
	serve(t, l, b.root+"/login/oidc/callback", c)
	return b
}

// browser keeps cookies and follows redirects.
type browser struct {
	*testing.T
	*http.Client
}

func open(t *testing.T) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return browser{t, &http.Client{Jar: jar, Timeout: 30 * time.Second}}
}

type page struct {
	status int
	at     *url.URL
	header http.Header
	text   string
}

func (b browser) request(method, address string, form url.Values) page {
	b.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(b.Context(), method, address, body)
	must(b, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := b.Do(r)
	must(b, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(b, err)
	return page{res.StatusCode, res.Request.URL, res.Header, html.UnescapeString(string(text))}
}

var request = regexp.MustCompile(`name="id" value="([^"]+)"`)

// signIn clicks the button of the sign-in page, fills in the provider's form and
// returns the final page.
func (b browser) signIn(to board, name string) page {
	b.Helper()
	left := b.request("POST", to.root+"/login/oidc", url.Values{"next": {"/zones"}})
	_, address, ok := strings.Cut(left.header.Get("Refresh"), "url=")
	if !ok {
		return left
	}
	form := b.request("GET", address, nil)
	id := request.FindStringSubmatch(form.text)
	if id == nil {
		b.Fatalf("the provider shows no form: %d %s\n%s", form.status, form.at, form.text)
	}
	return b.request("POST", form.at.Scheme+"://"+form.at.Host+"/login/username",
		url.Values{"id": {id[1]}, "username": {name}, "password": {password}})
}

type person struct {
	ID, Name, Role, Method string
}

func (b browser) currentPerson(at board) (p person) {
	b.Helper()
	res := b.request("GET", at.root+"/api/v1/me", nil)
	if err := json.Unmarshal([]byte(res.text), &p); err != nil {
		b.Fatalf("%v: %s", err, res.text)
	}
	return p
}

// expectSignedIn checks that the person is signed in and back at the requested page.
func (b browser) expectSignedIn(at board, got page, want person) {
	b.Helper()
	if got.status != http.StatusOK || got.at.Path != "/zones" {
		b.Fatalf("the sign-in ended at %d %s\n%s", got.status, got.at, got.text)
	}
	me := b.currentPerson(at)
	if me.Name != want.Name || me.Role != want.Role || !strings.HasSuffix(me.ID, ":"+want.ID) || me.Method != "oidc" {
		b.Errorf("signed in as %+v, expected %+v", me, want)
	}
}

// expectRefused checks that the sign-in was refused with these texts and that nobody is
// signed in.
func (b browser) expectRefused(at board, got page, status int, says ...string) {
	b.Helper()
	if got.status != status {
		b.Errorf("status %d at %s, expected %d", got.status, got.at, status)
	}
	for _, s := range says {
		if !strings.Contains(got.text, s) {
			b.Errorf("the page does not say %q:\n%s", s, got.text)
		}
	}
	if me := b.request("GET", at.root+"/api/v1/me", nil); me.status != http.StatusUnauthorized {
		b.Errorf("somebody is signed in: %d %s", me.status, me.text)
	}
}

func TestPeopleSignInAtARealProvider(t *testing.T) {
	bin = process.Shardboard(t)
	sim := process.Start(t, bin, "simcluster", "--listen", "127.0.0.1:0", "--still", "--projects", "3", "--documents", "30")
	cluster = sim.Line(t, `^(mongodb://\S+)`)

	t.Run("groups and name that only UserInfo has", func(t *testing.T) {
		b := startBoard(t, claims{userInfo: map[string]map[string]any{"7a1": {"groups": []string{"ops", "staff"}}, "7b2": {"groups": "dba"}}})
		anna := open(t)
		anna.expectSignedIn(b, anna.signIn(b, "anna"), person{ID: "7a1", Name: "anna", Role: "operator"})
		bert := open(t) // his groups are a single string
		bert.expectSignedIn(b, bert.signIn(b, "bert"), person{ID: "7b2", Name: "bert", Role: "admin"})
		record := bert.request("GET", b.root+"/audit", nil)
		for _, want := range []string{"anna", "Id at the issuer: 7a1", "Id at the issuer: 7b2"} {
			if !strings.Contains(record.text, want) {
				t.Errorf("the audit record does not show %q", want)
			}
		}
		if users := bert.request("GET", b.root+"/settings/users", nil); !strings.Contains(users.text, "anna") ||
			!strings.Contains(users.text, "Id at the issuer: 7a1") {
			t.Error("the list of sessions does not show who anna is")
		}
		if home := anna.request("GET", b.root+"/zones", nil); !strings.Contains(home.text, "anna") {
			t.Error("the header does not show anna's name")
		}
	})

	t.Run("nested roles and a chosen name", func(t *testing.T) {
		nested := map[string]any{"realm_access": map[string]any{"roles": []any{"offline_access", "staff", 7}}}
		b := startBoard(t, claims{userInfo: map[string]map[string]any{"7a1": nested}, idToken: map[string]map[string]any{"7b2": nested}},
			"--oidc-groups-claim", "realm_access.roles", "--oidc-name-claim", "name")
		for _, want := range []person{{ID: "7a1", Name: "Anna Example", Role: "viewer"}, {ID: "7b2", Name: "Bert Example", Role: "viewer"}} {
			who := open(t)
			who.expectSignedIn(b, who.signIn(b, newPeople()[want.ID].Username), want)
		}
	})

	t.Run("a scope that gives the groups", func(t *testing.T) {
		c := claims{scope: "groups", userInfo: map[string]map[string]any{"7a1": {"groups": []string{"ops"}}}}
		without := startBoard(t, c)
		anna := open(t)
		anna.expectRefused(without, anna.signIn(without, "anna"), http.StatusForbidden,
			`The claim "groups" came neither in the ID token nor from UserInfo`, "--oidc-scopes", "Claims in the ID token:",
			"Claims from UserInfo:", "preferred_username")
		if log := without.log.Output(); !strings.Contains(log, "groups-missing") || strings.Contains(log, "anna@example.com") {
			t.Errorf("the log:\n%s", log)
		}
		with := startBoard(t, c, "--oidc-scopes", "profile groups", "--oidc-scopes", "email")
		anna = open(t)
		anna.expectSignedIn(with, anna.signIn(with, "anna"), person{ID: "7a1", Name: "anna", Role: "operator"})
		if log := with.log.Output(); !strings.Contains(log, "does not list some of the requested scopes") {
			t.Errorf("no warning of a scope that the provider does not list:\n%s", log)
		}
	})

	t.Run("refusals", func(t *testing.T) {
		b := startBoard(t, claims{userInfo: map[string]map[string]any{"7a1": {"groups": []string{"cooks", "guests"}},
			"7b2": {"groups": map[string]any{"inner": true}}}})
		anna := open(t)
		refused := anna.signIn(b, "anna")
		anna.expectRefused(b, refused, http.StatusForbidden, "none of your groups has a role here",
			`The claim "groups" has 2 groups, and none of them is in --oidc-role-map`)
		for _, value := range []string{"cooks", "anna@example.com"} {
			if strings.Contains(refused.text, value) || strings.Contains(b.log.Output(), value) {
				t.Errorf("the value %q of a claim is shown or logged", value)
			}
		}
		bert := open(t)
		bert.expectRefused(b, bert.signIn(b, "bert"), http.StatusForbidden, `The claim "groups" is an object`, "groups.inner")
	})

	t.Run("a wrong secret", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "wrong")
		must(t, os.WriteFile(wrong, []byte("wrong-secret-of-the-client"), 0o600))
		b := startBoard(t, claims{}, "--oidc-client-secret-file", wrong)
		anna := open(t)
		anna.expectRefused(b, anna.signIn(b, "anna"), http.StatusServiceUnavailable, "does not accept shardboard", "--oidc-client-secret-file")
		if log := b.log.Output(); strings.Contains(log, "wrong-secret-of-the-client") || !strings.Contains(log, "client-refused") {
			t.Errorf("the log:\n%s", log)
		}
	})

	t.Run("an issuer that calls itself otherwise", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		serve(t, l, "http://127.0.0.1:1/", claims{})
		b := startBoard(t, claims{}, "--oidc-issuer", fmt.Sprintf("http://%s/", l.Addr()))
		anna := open(t)
		anna.expectRefused(b, anna.signIn(b, "anna"), http.StatusServiceUnavailable, "The issuer calls itself", "a slash at the end too")
	})

	t.Run("a wrong scope at start", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), bin, "serve", "--uri", cluster, "--listen", "127.0.0.1:0", "--auth",
			"oidc", "--oidc-issuer", "https://issuer.example", "--oidc-client-id", "x",
			"--oidc-role-map", "a=viewer", "--oidc-scopes", `groups,"x"`, "--data-dir", t.TempDir()).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not a scope") {
			t.Errorf("the start was not refused: %v\n%s", err, out)
		}
	})
}
