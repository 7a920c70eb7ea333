package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web"
	"shardboard/web/fleet"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// notAddresses are beginnings of paths in the documentation that are files, or addresses of other programs.
var notAddresses = regexp.MustCompile(`^/(etc|run|usr|var|data|keys|uri|proc|srv|tmp|dev|home|v2|api/v2|c/NAME|static)(/|$)|^/[\w.-]*\.\w+$|^//|^/\W*$`)

var addressSpan = regexp.MustCompile("`(?:GET |POST )?(/[^` ]*)`")

// An address in the documentation that no page and no answer has leads readers nowhere.
func TestAddressesInTheDocumentationExist(t *testing.T) {
	mux := chi.NewMux()
	for _, rt := range slices.Concat(web.Routes(), site.Complete(fleet.Routes)) {
		mux.MethodFunc(rt.Method, rt.Pattern, func(http.ResponseWriter, *http.Request) {})
	}
	exists := func(path string) bool {
		return mux.Match(chi.NewRouteContext(), "GET", path) || mux.Match(chi.NewRouteContext(), "POST", path)
	}
	n := 0
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../docs/playbooks/*.md", "../docs/runbooks/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatal(pattern, err)
		}
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			for _, m := range addressSpan.FindAllStringSubmatch(string(text), -1) {
				path, _, _ := strings.Cut(m[1], "?")
				path, _, _ = strings.Cut(path, "#")
				if notAddresses.MatchString(path) || strings.HasSuffix(path, "/") && path != "/" ||
					strings.HasSuffix(path, "…") {
					continue // a file, or the beginning of addresses
				}
				n++
				path = regexp.MustCompile(`^/c/[^/]+`).ReplaceAllString(path, "")
				if path != "" && !exists(path) {
					t.Errorf("%s names %s, which is no address", strings.TrimPrefix(page, "../"), m[1])
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d addresses", n)
	}
}

// A page that docs/pages.md does not explain, or one that it explains and that is gone, is found here.
func TestTheDocumentOfThePagesHasEveryPage(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	var described []string
	for _, line := range regexp.MustCompile(`(?m)^- \*\*[^*]+\*\* ([^:]+): (.+)`).FindAllStringSubmatch(string(text), -1) {
		for _, m := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(line[1], -1) {
			described = append(described, m[1])
		}
	}
	pages := web.Pages()
	for _, p := range pages {
		if !slices.Contains(described, p) {
			t.Errorf("docs/pages.md does not describe %s", p)
		}
	}
	for _, p := range described {
		if !slices.Contains(pages, p) {
			t.Errorf("docs/pages.md describes %s, which is no page", p)
		}
	}
}

// The document leads through the pages as the navigation does.
func TestTheDocumentOfThePagesFollowsTheNavigation(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	at := 0
	for _, e := range templates.NavOf(templates.You{MayLocate: true, MayOperate: true, MayAdmin: true}, true, true) {
		next := strings.Index(string(text), "\n## "+e.Name+"\n")
		if next < at {
			t.Errorf("## %s is missing or not in the order of the navigation", e.Name)
			continue
		}
		at = next
		section, _, _ := strings.Cut(string(text[at+1:]), "\n## ")
		for _, p := range e.Pages {
			expect.Contains(t, section, "** `"+p.URL+"`:", "%s does not stand below ## %s", p.URL, e.Name)
		}
	}
	if at == 0 {
		t.Error("the navigation is empty")
	}
}

// earlierAddresses are the lines of the fixture: what is asked for, and its address.
func earlierAddresses(t *testing.T) (out [][2]string) {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/earlier_addresses.txt"))
	for line := range strings.Lines(string(text)) {
		if media, address, ok := strings.Cut(strings.TrimSpace(line), " "); ok && media != "#" {
			out = append(out, [2]string{media, address})
		}
	}
	if len(out) < 200 {
		t.Fatalf("only %d addresses", len(out))
	}
	return out
}

// Bookmarks and scripts have the addresses of earlier versions. Each answers as it did, or leads to what does.
func TestEarlierAddressesLeadToTheSameKindOfAnswer(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	// Without what they need these had no other answer: a parameter, or a run of the sign-in.
	refused := map[string]int{"/history/step": http.StatusBadRequest, "/api/v1/locate": http.StatusNotFound,
		"/api/v1/history/step": http.StatusBadRequest}
	for _, line := range earlierAddresses(t) {
		media, address := line[0], webtest.AddressOf(line[1])
		if media == "live" {
			continue
		}
		var w *httptest.ResponseRecorder
		for range 4 {
			if w = s.Do("GET", address, webtest.Header("Accept", media)); w.Code/100 != 3 {
				break
			}
			address = strings.TrimPrefix(w.Header().Get("Location"), "http://localhost:8090")
		}
		want := http.StatusOK
		if code, ok := refused[line[1]]; ok {
			want = code
		}
		if got := w.Header().Get("Content-Type"); w.Code != want || want == http.StatusOK && !strings.HasPrefix(got, media) {
			t.Errorf("%s %s: %d %s at %s: %.200s", media, line[1], w.Code, got, address, w.Body)
		}
	}
}

// Pages that were open before an upgrade ask for the topics that they know.
func TestEarlierLiveTopicsAreServed(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		for _, line := range earlierAddresses(t) {
			if line[0] != "live" {
				continue
			}
			kind, _, keyed := strings.Cut(line[1], ":")
			topic := line[1]
			if keyed {
				topic = kind + strings.TrimPrefix(webtest.AddressOf("/"+kind+"s/"+line[1][len(kind)+1:]), "/"+kind+"s")
				topic = strings.Replace(topic, "/", ":", 1)
			}
			w := l.Do("GET", "/live?poll=1&t="+topic)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"topic":"`+topic+`"`) {
				t.Errorf("%s: %d %.200s", topic, w.Code, w.Body)
			}
		}
	})
}
