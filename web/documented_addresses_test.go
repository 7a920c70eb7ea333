package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fixture/must"
	"shardboard/web"
	"shardboard/web/fleet"
	"shardboard/web/site"
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
