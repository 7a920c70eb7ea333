package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// signedInPerson is a browser with a session that stores all answers.
type signedInPerson struct {
	http *http.Client
	base string
	said *capture
}

func (p *signedInPerson) post(t *testing.T, path string, form url.Values, tell bool) []byte {
	t.Helper()
	res, err := p.http.PostForm(p.base+path, form)
	if err != nil {
		t.Fatal(err)
	}
	return p.readAnswer(t, res, tell)
}

func (p *signedInPerson) readAnswer(t *testing.T, res *http.Response, tell bool) []byte {
	t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if tell {
		header := res.Header.Clone()
		header.Del("Set-Cookie") // the only place where a session's secret may be
		fmt.Fprint(p.said, res.Status, header)
		_, _ = p.said.Write(body)
	}
	return body
}

func TestNoSecretOfASignInIsDisclosed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	const password, wrong canary = "canary-k1-right-horse-battery", "canary-l2-wrong-horse-battery"
	d := startDemo(t, simcluster.Options{Projects: 4, Documents: 20, Still: true}, topology.Options{})
	dir, heard := t.TempDir(), &capture{}
	c := Config{Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}},
		Log: slog.New(slog.NewTextHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	a := d.startBeside(t, c)
	link, err := a.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &signedInPerson{http: &http.Client{Jar: jar}, base: a.URL(), said: &capture{}}
	first := canary(u.Query().Get("key"))
	p.post(t, "login/first", url.Values{"key": {string(first)}, "name": {"anna"}, "password": {string(password)}}, true)
	p.post(t, "login", url.Values{"name": {"anna"}, "password": {string(wrong)}}, true)
	p.post(t, "login", url.Values{"name": {string(wrong)}, "password": {string(password)}}, false) // a password typed as the name is treated as a name

	token := createToken(t, p)
	cookies := jar.Cookies(u)
	if len(cookies) == 0 {
		t.Fatal("the sign-in failed")
	}
	birds := []canary{password, first, token, canary(cookies[0].Value)}

	var spec struct {
		Paths map[string]map[string]json.RawMessage
	}
	res, err := p.http.Get(p.base + "api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(p.readAnswer(t, res, true), &spec); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for path, methods := range spec.Paths {
		if _, ok := methods["get"]; !ok || path == "/live" {
			continue
		}
		target := strings.NewReplacer("{name}", "anna", "{id}", "zzz", "{ns}", "yorkie-meta.changes", "{ref}", "x", "{file}", "x").Replace(path)
		for _, accept := range []string{"text/html", "application/json"} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(p.base, "/")+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", accept)
			r.Header.Set("Authorization", "Bearer "+string(token))
			res, err := p.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			p.readAnswer(t, res, true)
			asked++
		}
	}
	if asked < 40 {
		t.Errorf("only %d addresses were requested", asked)
	}
	checkNoCanaries(t, "an answer", p.said.bytes(), birds...)
	checkNoCanaries(t, "the log", heard.bytes(), birds...)
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkNoCanaries(t, "the log at the end", heard.bytes(), birds...)
	checkNoCanaries(t, "the data directory", contentOfFiles(t, dir), birds...)
	if !bytes.Contains(contentOfFiles(t, dir), []byte("anna")) {
		t.Error("no content was read from the data directory")
	}
}

// createToken creates an API token, which is shown only in this answer.
func createToken(t *testing.T, p *signedInPerson) canary {
	t.Helper()
	r, err := http.NewRequestWithContext(
		t.Context(),
		"POST",
		p.base+"api/v1/tokens",
		strings.NewReader(fmt.Sprintf(`{"name":"script","role":"admin","expires":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))),
	)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", strings.TrimSuffix(p.base, "/"))
	res, err := p.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var made map[string]any
	body := p.readAnswer(t, res, false)
	if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	for _, v := range made {
		if s, ok := v.(string); ok && strings.HasPrefix(s, "sb_") {
			return canary(s)
		}
	}
	t.Fatalf("no token in %s %s", res.Status, body)
	return ""
}

// contentOfFiles returns the concatenated content of a directory's files.
func contentOfFiles(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, b...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
