package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
)

func TestNoSecretOfASignInIsDisclosed(t *testing.T) {
	only.Long(t, "requests every address")
	const password, wrong canary = annasPassword, "canary-l2-wrong-horse-battery"
	dir, heard, said := t.TempDir(), &capture{}, &capture{}
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir,
		Auth: Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}},
		Log:  slog.New(slog.NewTextHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	anna := sessionClient(t)
	// answer returns the body of an answer and, if it should have no secret, stores all of it.
	answer := func(res *http.Response, err error, tell bool) []byte {
		t.Helper()
		must.Do(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		must.Do(t, err)
		if tell {
			header := res.Header.Clone()
			header.Del("Set-Cookie") // the only place where a session's secret may be
			fmt.Fprint(said, res.Status, header, string(body))
		}
		return body
	}
	key, cookies := firstSignIn(t, a, anna, a.URL())
	res, err := anna.PostForm(a.URL()+"login", url.Values{"name": {"anna"}, "password": {string(wrong)}})
	answer(res, err, true)
	// A password typed as the name is treated as a name.
	res, err = anna.PostForm(a.URL()+"login", url.Values{"name": {string(wrong)}, "password": {string(password)}})
	answer(res, err, false)
	r, _ := http.NewRequestWithContext(t.Context(), "POST", a.URL()+"api/v1/tokens",
		strings.NewReader(fmt.Sprintf(`{"name":"script","role":"admin","expires":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", strings.TrimSuffix(a.URL(), "/"))
	res, err = anna.Do(r)
	var made struct{ Secret canary } // shown only in this answer
	body := answer(res, err, false)
	must.That(t, json.Unmarshal(body, &made) == nil && strings.HasPrefix(string(made.Secret), "sb_"), "no token in %s", body)
	birds := []canary{password, canary(key), made.Secret, canary(cookies[0].Value)}

	res, err = anna.Get(a.URL() + "api/openapi.json")
	asked := 0
	for path, methods := range documentedPaths(t, answer(res, err, true)) {
		if _, ok := methods["get"]; !ok || path == "/live" {
			continue
		}
		target := strings.NewReplacer("{name}", "anna", "{id}", "zzz", "{ns}", "yorkie-meta.changes", "{ref}", "x", "{file}", "x").Replace(path)
		for _, accept := range []string{"text/html", "application/json"} {
			r := must.Get(http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(a.URL(), "/")+target, nil))
			r.Header.Set("Accept", accept)
			r.Header.Set("Authorization", "Bearer "+string(made.Secret))
			res, err := anna.Do(r)
			answer(res, err, true)
			asked++
		}
	}
	expect.That(t, asked >= 40, "only %d addresses were requested", asked)
	checkNoCanaries(t, "an answer", said.bytes(), birds...)
	must.Do(t, a.Stop(t.Context()))
	checkNoCanaries(t, "the log", heard.bytes(), birds...)
	stored := contentOfFiles(t, dir)
	checkNoCanaries(t, "the data directory", stored, birds...)
	expect.That(t, bytes.Contains(stored, []byte("anna")), "no content was read from the data directory")
}

// documentedPaths are the addresses and methods of a description of the API.
func documentedPaths(t *testing.T, description []byte) map[string]map[string]json.RawMessage {
	t.Helper()
	var spec struct {
		Paths map[string]map[string]json.RawMessage
	}
	must.Do(t, json.Unmarshal(description, &spec))
	return spec.Paths
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
	must.Do(t, err)
	return all
}
