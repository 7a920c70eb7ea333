// Package fault has the list of error kinds and their meaning for a browser (HTTP status), a script
// (exit code) and a person (a sentence). Text for people never contains the cause, which is for
// logs and errors.Is/As.
package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Kind is the kind of an error. The zero Kind is Internal, so an unclassified error is never blamed
// on the caller.
type Kind uint8

const (
	Internal       Kind = iota // a bug, or an unclassified cause
	NotFound                   // the requested object does not exist
	Invalid                    // the request is wrong
	Conflict                   // the state has changed since, or the object exists already
	Forbidden                  // the caller, or our cluster user, lacks the right
	Unavailable                // temporarily impossible; try again later
	UnknownOutcome             // a command was sent and no answer came
	None                       // no error
)

var kinds = [...]struct {
	name    string
	status  int
	exit    int
	heading string
	advice  string
}{
	Internal: {"internal", http.StatusInternalServerError, 1,
		"Something went wrong", "The log has the cause. Other pages still work."},
	NotFound: {"not found", http.StatusNotFound, 3,
		"Not found", "It may have been dropped or renamed; the lists show what exists."},
	Invalid: {"invalid", http.StatusBadRequest, 2,
		"Invalid request", "Correct the address, or continue from one of these pages."},
	Conflict: {"conflict", http.StatusConflict, 4, "Not possible now",
		"The state has changed or something else is under way. Go back and look at the page again."},
	Forbidden: {"forbidden", http.StatusForbidden, 5,
		"Not permitted", "Continue from one of these pages."},
	Unavailable: {"unavailable", http.StatusServiceUnavailable, 6,
		"Not available now", "shardboard keeps trying; reload in a few seconds."},
	UnknownOutcome: {"outcome unknown", http.StatusGatewayTimeout, 7,
		"Outcome unknown", "Read the cluster before you try again."},
	None: {name: "none", status: http.StatusOK},
}

func (k Kind) known() Kind {
	if int(k) >= len(kinds) {
		return Internal
	}
	return k
}

// String is the kind as in the API's problem titles.
func (k Kind) String() string { return kinds[k.known()].name }

// HTTPStatus is the status of an answer with this kind.
func (k Kind) HTTPStatus() int { return kinds[k.known()].status }

// Heading is the heading of an error page.
func (k Kind) Heading() string { return kinds[k.known()].heading }

// Advice is what a person can do about it, in a sentence or two.
func (k Kind) Advice() string { return kinds[k.known()].advice }

// ExitCode is the command line's exit code; 0 only for None.
func (k Kind) ExitCode() int { return kinds[k.known()].exit }

// Error is a classified error: a sentence for people and a cause for logs.
type Error struct {
	Kind   Kind
	Title  string // title, if the kind's own says too little; "" otherwise
	Text   string // says what happened, what it means, what to do; no internals
	Advice string // what helps, if the kind's own does not; "" otherwise
	Brief  string // Text without quotes of a server; "" if Text has none
	Err    error  // the cause; may be nil
}

// NoAnswerTitle is the title when the cluster does not answer.
const NoAnswerTitle = "The cluster does not answer"

// Error is text and cause, for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error. Its arguments must be safe to show to the caller.
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

// NoAnswer classifies a cluster that does not answer: Unavailable with its own title, which
// wrapping keeps. nil stays nil.
func NoAnswer(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: Unavailable, Title: NoAnswerTitle, Text: fmt.Sprintf(format, args...), Err: err}
}

// Of returns the outermost kind in err's chain; None for nil. Without one, an exceeded deadline is Unavailable
// and everything else Internal. A cancelled caller (context.Canceled) is not a failure; check for
// it before.
func Of(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return None
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Unavailable
	}
	return Internal
}

// Title is the outermost title in err's chain; "" if there is none.
func Title(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Title != "" {
			return e.Title
		}
	}
	return ""
}

// Advice is the outermost advice in err's chain, or else that of its kind.
func Advice(err error) string {
	of := Of(err).Advice()
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Advice != "" {
			return e.Advice
		}
	}
	return of
}

// Text is the sentence for people. An unclassified error has a general one, so that no internals of
// the driver or server reach a page.
func Text(err error) string {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Text
	case errors.Is(err, context.DeadlineExceeded):
		return "It took too long and was stopped. Try again in a few seconds."
	case errors.Is(err, context.Canceled):
		return "The request was cancelled before it was answered."
	}
	return "Something went wrong inside shardboard; the log has the cause."
}
