package site

import (
	"net/http"
	"net/url"
	"strings"
)

// Below serves a whole server below a path of its public address, such as "/shardboard"; "" is none. A proxy in front
// may hand the path on or take it off, and a health check does not know it, so addresses are taken with it and without
// it. That cannot be mistaken: no address of the server begins with it (see web.Begins). What leads on in the headers
// of an answer gets it here; the handlers behind know nothing of it.
func Below(root string, next http.Handler) http.Handler {
	if root == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&belowWriter{ResponseWriter: w, root: root}, withoutRoot(root, r))
	})
}

// withoutRoot is a request as the handlers behind Below take it.
func withoutRoot(root string, r *http.Request) *http.Request {
	path := WithoutRoot(root, r.URL.Path)
	if path == r.URL.Path || r.URL.RawPath != "" && !strings.HasPrefix(r.URL.RawPath, root+"/") {
		return r // a path that needs no escaping is not escaped by browsers
	}
	out := new(http.Request)
	*out = *r
	out.URL = new(url.URL)
	*out.URL = *r.URL
	out.URL.Path, out.URL.RawPath = path, strings.TrimPrefix(r.URL.RawPath, root)
	return out
}

// WithoutRoot is an address of the server as handlers know it, of one as browsers have it.
func WithoutRoot(root, address string) string {
	rest, ok := strings.CutPrefix(address, root)
	switch {
	case ok && strings.HasPrefix(rest, "/"):
		return rest
	case ok && (rest == "" || rest[0] == '?') && root != "":
		return "/" + rest
	}
	return address
}

// belowWriter completes where an answer leads.
type belowWriter struct {
	http.ResponseWriter
	root string
}

func (w *belowWriter) WriteHeader(status int) {
	to := w.Header().Get("Location")
	if status >= http.StatusOK && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
		w.Header().Set("Location", w.root+to)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *belowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
