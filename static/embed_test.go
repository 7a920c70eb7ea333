package static

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestEverythingTogetherStaysSmall(t *testing.T) {
	total := 0
	for _, a := range Assets() {
		size := len(a.Body)
		if a.Gzip != nil {
			size = len(a.Gzip)
		}
		total += size
		t.Logf("%-14s %6d", a.Name, size)
	}
	expect.That(t, total <= 80<<10, "%d bytes compressed, at most 80 KiB", total)
}

func TestModulesImportHashedAddressesThatExist(t *testing.T) {
	imports := regexp.MustCompile(`\b(?:from *|import *|import\()"(\./[^"]+)"`)
	seen := 0
	for _, a := range Assets() {
		for _, m := range imports.FindAllStringSubmatch(string(a.Body), -1) {
			seen++
			if _, ok := Open(Prefix + strings.TrimPrefix(m[1], "./")); !ok {
				t.Errorf("%s imports %s, which is not served", a.Name, m[1])
			}
		}
	}
	expect.That(t, seen >= 50, "hardly an import found: the check is broken")
}

func TestEveryStyleSheetIsServed(t *testing.T) {
	files, err := FS.ReadDir("css")
	must.Do(t, err)
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), ".css"); !slices.Contains(styleSheets, name) {
			t.Errorf("css/%s is not in styleSheets", f.Name())
		}
	}
	expect.That(t, len(files) == len(styleSheets), "%d files, %d style sheets", len(files), len(styleSheets))
}

func TestNothingComesFromElsewhere(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]{2,}|@import|(?-i:url\()`)
	if len(Assets()) < 5 {
		t.Errorf("%d assets: the check is broken", len(Assets()))
	}
	for _, a := range Assets() {
		body := strings.ReplaceAll(string(a.Body), "http://www.w3.org/2000/svg", "")
		body = strings.ReplaceAll(body, "url(#", "") // a part of the page itself
		expect.Equal(t, elsewhere.FindString(body), "", "a reference in %s", a.Name)
	}
}

func TestAddressChangesWithTheContent(t *testing.T) {
	if URL("app.css") == Prefix+"app.css" || !strings.HasPrefix(URL("app.css"), "/static/app.") {
		t.Errorf("no hash in %s", URL("app.css"))
	}
	if got := URL("js/app.js"); !strings.HasPrefix(got, "/static/app.") || !strings.HasSuffix(got, ".js") {
		t.Errorf("folders are left out: %s", got)
	}
}

func TestServedForEverAndCompressed(t *testing.T) {
	r := httptest.NewRequest("GET", URL("app.css"), nil)
	r.Header.Set("Accept-Encoding", "br, gzip")
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" ||
		!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	z := must.Get(gzip.NewReader(w.Body))
	body, err := io.ReadAll(z)
	expect.That(t, err == nil && strings.Contains(string(body), "--accent"), "not the style sheet: %v", err)
}

func TestOnlyHashedAddressesAnswer(t *testing.T) {
	for _, path := range []string{"/static/app.css", "/static/", "/static/js/app.js", "/static/../embed.go"} {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		expect.Equal(t, w.Code, http.StatusNotFound, "%s", path)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest("POST", URL("app.css"), nil))
	expect.Equal(t, w.Code, http.StatusMethodNotAllowed, "POST")
}
