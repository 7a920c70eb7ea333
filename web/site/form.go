package site

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"shardboard/internal/answer/param"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/guard"
)

// ParseForm reads a form of ours: urlencoded, nothing else.
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
	for name, values := range r.PostForm {
		if !isText(name) || slices.ContainsFunc(values, func(v string) bool { return !isText(v) }) {
			return ErrNotText
		}
	}
	return nil
}

// ErrNotText refuses what no browser sends and no page can show.
var ErrNotText = fault.New(fault.Invalid, "What was sent is not text: it is no UTF-8, or has a NUL character.")

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Problem turns a refusal into the words of the form that caused it; what is
// nobody's fault but ours is a failed request.
func (s *Site) Problem(w http.ResponseWriter, err error, text *string, again func(status int) error) error {
	if wait, ok := guard.WaitOf(err); ok {
		w.Header().Set("Retry-After", guard.WholeSeconds(wait))
		*text = "Too many requests. Try again in " + guard.WholeSeconds(wait) + " s."
		return again(http.StatusTooManyRequests)
	}
	if busy := (*auth.Busy)(nil); errors.As(err, &busy) {
		w.Header().Set("Retry-After", guard.WholeSeconds(busy.Wait))
		*text = "Too many people sign in at this moment. Your name and password were not checked. Try again in " + guard.WholeSeconds(
			busy.Wait,
		) + " s."
		return again(http.StatusServiceUnavailable)
	}
	kind := fault.Of(err)
	if kind == fault.Internal {
		return err
	}
	*text = s.ProblemText(w, err)
	return again(kind.HTTPStatus())
}

// Typed is what somebody typed, fit to be typed again.
func Typed(s string, most int) string {
	s, err := param.Checked("", sanitize.Truncate(s, most))
	if err != nil {
		return ""
	}
	return s
}

// SeeOther leads the browser from a form that was sent to a page, by GET: loading it again sends nothing again.
func SeeOther(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

func tooLarge(err error) bool {
	var tooLong *http.MaxBytesError
	return errors.As(err, &tooLong)
}
