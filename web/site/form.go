package site

import (
	"net/http"
	"strings"

	"shardboard/internal/fault"
)

// parseForm reads a form of ours: urlencoded, nothing else.
func ParseForm(r *http.Request) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return &StatusError{Status: http.StatusUnsupportedMediaType, Text: "Send the page's form."}
	}
	if err := r.ParseForm(); err != nil {
		if tooLarge(err) {
			return err
		}
		return fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return nil
}
