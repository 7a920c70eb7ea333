package static

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// While a release is rolled out, a page of one release may ask a server of the other for its files. That server sends
// the browser to ask again, over a new connection, so that the balancer may choose another server. After a few times it
// gives its own file of that name: a page with a style sheet and scripts of the other release is better than one
// without.
const (
	mostTries  = 8       // with two equal halves one page in 256 gets a file of the other release
	triesParam = "again" // how often a browser was sent to ask again
)

// Handler serves the assets by their hashed addresses, compressed if the browser accepts it. There is no listing, no
// address without a hash, and 404 for a name that this release does not have.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { built().serve(w, r) })
}

// Known tells whether a file is served at an address: this release's own, or one of another release with the same name.
func Known(url string) bool {
	t := built()
	return t.byURL[url] != nil || t.ofOtherRelease(url) != nil
}

// ofOtherRelease is the file that stands for one of another release; nil for an address that no release has.
func (t *table) ofOtherRelease(url string) *Asset {
	name, ok := strings.CutPrefix(url, Prefix)
	ext := path.Ext(name)
	base, hash, hashed := strings.Cut(strings.TrimSuffix(name, ext), ".")
	if !ok || !hashed || strings.Contains(base, "/") || len(hash) != 2*hashBytes || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil
	}
	for _, folder := range []string{"", "js/"} {
		if a := t.byName[folder+base+ext]; a != nil {
			return a
		}
	}
	return nil
}

func (t *table) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	a, keep := t.byURL[r.URL.Path], "public, max-age=31536000, immutable"
	if a == nil {
		if a, keep = t.ofOtherRelease(r.URL.Path), "no-store"; a == nil {
			http.NotFound(w, r)
			return
		}
		if tries, _ := strconv.Atoi(r.URL.Query().Get(triesParam)); tries >= 0 && tries < mostTries {
			h.Set("Cache-Control", keep)
			h.Set("Connection", "close")
			h.Set("Location", r.URL.Path+"?"+triesParam+"="+strconv.Itoa(tries+1))
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
	}
	h.Set("Content-Type", a.Type)
	h.Set("Cache-Control", keep)
	h.Set("Vary", "Accept-Encoding")
	body := a.Body
	if a.Gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.Gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the browser has left.
	_, _ = w.Write(body)
}
