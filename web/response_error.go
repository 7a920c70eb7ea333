package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// statusError is a failure that HTTP has a status for and package fault has
// not: wrong method, wrong host, too much body.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// fail answers an error: problem+json to scripts, a page to people. The cause
// goes to the log only.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	var se *statusError
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		err = &statusError{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf("The body is longer than %d bytes.", tooLong.Limit)}
	}
	if wait, ok := waitOf(err); ok {
		w.Header().Set("Retry-After", wholeSeconds(wait))
		err = &statusError{status: http.StatusTooManyRequests, text: words.T("access.tooOften", "seconds", wholeSeconds(wait))}
	}
	// Who asked has left: nobody reads the answer, and nothing has failed.
	left := errors.Is(r.Context().Err(), context.Canceled) && errors.Is(err, context.Canceled)
	if left {
		err = fault.Wrap(fault.Unavailable, err, "%s", fault.Text(err))
	}
	ours := (*bug)(nil)
	if !errors.As(err, &se) {
		if b, ok := asBug(err); ok {
			ours, err = b, b
		}
	}
	cause := err
	err = shownTo(r, err)
	if s.hiddenFrom(auth.From(r.Context())).texts {
		err = fault.WithoutQuotes(err)
	}
	problem := extended(s.problemOf(err, r.URL.EscapedPath()), err)
	status := problem.Status
	if se != nil {
		status = se.status
		problem = api.NewProblem(status, se.text, r.URL.EscapedPath())
	}
	if status >= http.StatusInternalServerError && !left {
		more := []any{"method", r.Method, "path", logPath(r), "status", status, "err", cause}
		if ours != nil {
			more = append(more, "ref", ours.ref)
		}
		s.logFailure(r, ours == nil, more)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", wholeSeconds(againAfter))
	}
	out := newAnswer()
	if wantsJSON(r) {
		body, jerr := json.Marshal(problem)
		if jerr != nil {
			body = []byte(`{"type":"about:blank","status":500}`)
		}
		out.header.Set("Content-Type", api.ProblemType)
		_, _ = out.Write(append(body, '\n'))
	} else {
		s.errorPage(out, r, err, se)
	}
	out.status = status
	s.send(w, r, out, "")
}

// logFailure writes the line of a failed request. While our data cannot be used,
// strangers choose how many of those there are; a line with a reference is on a page.
func (s *Site) logFailure(r *http.Request, bounded bool, more []any) {
	if bounded && auth.From(r.Context()).ID == "" {
		ok, leftOut := s.nobodys.take(s.deps.Now())
		if !ok {
			return
		}
		if leftOut > 0 {
			more = append(more, "left_out", leftOut)
		}
	}
	s.deps.Log.ErrorContext(r.Context(), "request failed", more...)
}

// errorPage draws a failure for people. A status that package fault does not
// know has the words of a wrong request.
func (s *Site) errorPage(out *answer, r *http.Request, err error, se *statusError) {
	if se == nil {
		s.writeErrorPage(out, r, err)
		return
	}
	m := errorView(fault.Invalid, se.text)
	m.Status = se.status
	if err := writePage(out, r, se.status, templates.Error(s.shell(r, s.viewFor(r), "", m.Title), m)); err != nil {
		http.Error(out, se.text, se.status)
	}
}

// wantsJSON tells whether an error goes to a script: everything under /api,
// the health probes, and whoever asks for JSON and not for HTML.
func wantsJSON(r *http.Request) bool {
	path := r.URL.Path
	if path == "/api" || strings.HasPrefix(path, "/api/") || path == "/live" || path == "/healthz" || path == "/readyz" || path == "/metrics" {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "json") && !strings.Contains(accept, mediaHTML)
}
