package site

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
)

// pathText is a path parameter, unescaped exactly once: chi matches on the
// escaped path when there is one.
func PathText(r *http.Request, name string) (string, error) {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath != "" {
		un, err := url.PathUnescape(raw)
		if err != nil {
			return "", fault.New(fault.Invalid, "The address is not escaped correctly.")
		}
		raw = un
	}
	return answer.CheckText(name, raw)
}
