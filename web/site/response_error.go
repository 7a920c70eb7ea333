package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/guard"
	"shardboard/web/templates"
)

// StatusError is a failure that HTTP has a status for and package fault has
// not: wrong method, wrong host, too much body.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string { return e.Text }

// FailWith answers with a status that package fault has none of.
func (s *Site) FailWith(w http.ResponseWriter, r *http.Request, status int, text string) {
	s.Fail(w, r, &StatusError{Status: status, Text: text})
}

// Fail answers an error: problem+json to scripts, a page to people. The cause
// goes to the log only.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error) {
	var se *StatusError
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		err = &StatusError{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("The body is longer than %d bytes.", tooLong.Limit)}
	}
	if wait, ok := guard.WaitOf(err); ok {
		w.Header().Set("Retry-After", guard.WholeSeconds(wait))
		err = &StatusError{Status: http.StatusTooManyRequests, Text: "Too many requests. Try again in " + guard.WholeSeconds(wait) + " s."}
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
	err = ShownTo(r, err)
	if s.HiddenFrom(auth.From(r.Context())).Texts {
		err = fault.WithoutQuotes(err)
	}
	problem := extended(s.ProblemOf(err, s.Asked(r)), err)
	status := problem.Status
	if se != nil {
		status = se.Status
		problem = api.NewProblem(status, se.Text, s.Asked(r))
	}
	problem.Request = RequestID(r.Context())
	if status >= http.StatusInternalServerError && !left {
		more := []any{"method", r.Method, "path", logPath(r), "status", status, "err", cause}
		if ours != nil {
			more = append(more, "ref", ours.ref)
		}
		s.logFailure(r, ours == nil, more)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", guard.WholeSeconds(againAfter))
	}
	out := newAnswer()
	if guard.WantsJSON(r) {
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
		ok, leftOut := s.linesOfNobody.Take(s.Deps.Now())
		if !ok {
			return
		}
		if leftOut > 0 {
			more = append(more, "left_out", leftOut)
		}
	}
	s.Deps.Log.ErrorContext(r.Context(), "request failed", more...)
}

// errorPage draws a failure for people. A status that package fault does not
// know has the words of a wrong request.
func (s *Site) errorPage(out *response, r *http.Request, err error, se *StatusError) {
	if se == nil {
		s.WriteErrorPage(out, r, err)
		return
	}
	page := templates.Error(s.errorShell(r, fault.Invalid.Heading()), se.Text, fault.Invalid.Advice())
	if err := WritePage(out, r, se.Status, page); err != nil {
		http.Error(out, se.Text, se.Status)
	}
}
