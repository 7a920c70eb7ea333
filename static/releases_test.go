package static

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// otherRelease has every file changed, so that no address is the same.
func otherRelease(t *testing.T) *table {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(FS, name)
		switch {
		case strings.HasSuffix(name, ".js"):
			body = append(body, "\nwindow.release_ = 2;\n"...)
		case strings.HasSuffix(name, ".css"):
			body = append(body, "\n.release-2 { color: red }\n"...)
		default:
			body = append(body, "<!-- 2 -->"...)
		}
		files[name] = &fstest.MapFile{Data: body}
		return err
	})
	must.Do(t, err)
	return build(files, false)
}

// Two releases behind one address: whichever server a request meets, a page gets the files of its own release. When the
// other release is all that is left, its files stand in, and nobody keeps them.
func TestTwoReleasesBehindOneAddress(t *testing.T) {
	releases := []*table{build(FS, false), otherRelease(t)}
	var turn atomic.Int64
	unlucky := 0 // how many requests in a row meet the wrong server
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(turn.Add(1) - 1)
		wrong, right := releases[0], releases[1]
		if n%(unlucky+1) < unlucky {
			wrong.serve(w, r)
		} else {
			right.serve(w, r)
		}
	}))
	defer front.Close()
	get := func(url string) (*http.Response, string) {
		t.Helper()
		turn.Store(0)
		res, err := http.Get(front.URL + url)
		must.Do(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		must.Do(t, err)
		return res, string(body)
	}
	for _, unlucky = range []int{0, 1, 3, mostTries, mostTries + 1} {
		for name, a := range releases[1].byName {
			must.That(t, releases[0].byName[name].URL != a.URL, "%s is the same in both", name)
			res, body := get(a.URL)
			want, keep := string(a.Body), "immutable"
			if unlucky > mostTries {
				want, keep = string(releases[0].byName[name].Body), "no-store"
			}
			if res.StatusCode != http.StatusOK || body != want || !strings.Contains(res.Header.Get("Cache-Control"), keep) ||
				res.Header.Get("Content-Type") != a.Type {
				t.Errorf("%s after %d wrong servers: %s, %q, %d bytes", name, unlucky, res.Status, res.Header.Get("Cache-Control"), len(body))
			}
		}
	}
	w := httptest.NewRecorder()
	releases[0].serve(w, httptest.NewRequest("GET", releases[1].byName["app.css"].URL, nil))
	if w.Code != http.StatusTemporaryRedirect || w.Header().Get("Connection") != "close" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a browser is sent to ask again by %d %v", w.Code, w.Header())
	}
	for _, none := range []string{
		"/static/app.css", "/static/none.0123456789ab.js", "/static/app.0123456789.js", "/static/app.0123456789aB.js",
		"/static/js/app.0123456789ab.js", "/static/..0123456789ab.js", "/static/app.0123456789ab.css.js", "/static/", "/static/app.zz.js"} {
		w := httptest.NewRecorder()
		releases[0].serve(w, httptest.NewRequest("GET", none, nil))
		expect.Equal(t, w.Code, http.StatusNotFound, "%s", none)
	}
	for _, tries := range []string{"-1", "99999999999999999999", "x", "8"} {
		w := httptest.NewRecorder()
		releases[0].serve(w, httptest.NewRequest("GET", releases[1].byName["app.css"].URL+"?again="+tries, nil))
		if w.Code != http.StatusOK && w.Header().Get("Location") == "" || strings.Contains(w.Header().Get("Location"), "again=9") {
			t.Errorf("again=%s: %d %v", tries, w.Code, w.Header())
		}
	}
}
