// Package fault holds the one list of ways in which shardboard can fail, and
// how each is told: to a browser (HTTP status), to a script (exit code) and to
// a person (a sentence). Text for people never contains the cause; the cause
// is for logs and errors.Is/As.
package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Kind says what sort of failure it is. The zero Kind is Internal, so an error
// that nobody classified is never mistaken for the caller's fault.
type Kind uint8

const (
	Internal       Kind = iota // our defect or an unclassified cause
	NotFound                   // the thing asked for does not exist
	Invalid                    // the request itself is wrong
	Conflict                   // right once, but the world has changed
	Forbidden                  // the caller, or our cluster user, may not
	Unavailable                // cannot be had now; try again later
	UnknownOutcome             // a command left and no answer came back
)

var kinds = [...]struct {
	name   string
	status int
	exit   int
}{
	Internal:       {"internal", http.StatusInternalServerError, 1},
	NotFound:       {"not found", http.StatusNotFound, 3},
	Invalid:        {"invalid", http.StatusBadRequest, 2},
	Conflict:       {"conflict", http.StatusConflict, 4},
	Forbidden:      {"forbidden", http.StatusForbidden, 5},
	Unavailable:    {"unavailable", http.StatusServiceUnavailable, 6},
	UnknownOutcome: {"outcome unknown", http.StatusGatewayTimeout, 7},
}

func (k Kind) known() Kind {
	if int(k) >= len(kinds) {
		return Internal
	}
	return k
}

// String is the kind in the words of the API's problem titles.
func (k Kind) String() string { return kinds[k.known()].name }

// HTTPStatus is the status that a response carrying this kind has.
func (k Kind) HTTPStatus() int { return kinds[k.known()].status }

// ExitCode is what the command line ends with; never 0.
func (k Kind) ExitCode() int { return kinds[k.known()].exit }

// Error is a classified failure: a sentence for people and a cause for logs.
type Error struct {
	Kind  Kind
	Title string // heading where the kind's own says too little; "" elsewhere
	Text  string // says what happened, what it means, what to do; no internals
	Brief string // Text without what a server wrote; "" where Text quotes no server
	Err   error  // the cause; may be nil
}

// NoAnswerTitle heads every failure of the cluster to answer.
const NoAnswerTitle = "The cluster does not answer"

// Error is for logs: text and cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes a failure whose sentence is formatted from arguments that are
// safe to show to whoever asked.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Wrap classifies err and gives it a sentence; nil stays nil.
func Wrap(kind Kind, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...), Err: err}
}

// NoAnswer classifies the failure of the cluster to answer: Unavailable, under a
// title of its own. What wraps it keeps the title. nil stays nil.
func NoAnswer(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: Unavailable, Title: NoAnswerTitle, Text: fmt.Sprintf(format, args...), Err: err}
}

// Of finds the outermost classification in err's chain. Without one, a time
// limit that ran out is Unavailable and everything else Internal. The end of the
// caller itself (context.Canceled) is no failure of anything: it has no kind of
// its own and has to be looked at before.
func Of(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Unavailable
	}
	return Internal
}

// Title is the outermost heading in err's chain that is not the kind's own; "" if
// there is none.
func Title(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Title != "" {
			return e.Title
		}
	}
	return ""
}

// Text is the sentence for people. An unclassified error gives a general one,
// so that no driver or server internals reach a page by accident.
func Text(err error) string {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Text
	case errors.Is(err, context.DeadlineExceeded):
		return "It took too long and was given up. Try again in a few seconds."
	case errors.Is(err, context.Canceled):
		return "The request was cancelled before it was answered."
	}
	return "Something went wrong inside shardboard; the log has the cause."
}
