package api

import (
	"net/http"

	"shardboard/internal/fault"
)

// ProblemType is the media type of every error answer (RFC 9457).
const ProblemType = "application/problem+json"

// Problem is an error answer. Type is always about:blank: the status is the kind of error, and
// Detail is a sentence for people.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"` // the request's path, without its query

	Request string       `json:"request,omitempty"` // id of the request, as in the log and in X-Request-ID
	Changed []Difference `json:"changed,omitempty"` // 409: how the cluster differs from the plan
	Checks  []PlanCheck  `json:"checks,omitempty"`  // 422: which checks block
}

// NewProblem is the problem of a status without a fault, such as 405 or 421.
func NewProblem(status int, detail, instance string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Instance: instance}
}

// ProblemOf makes a problem from err without its cause.
func ProblemOf(err error, instance string) Problem {
	p := NewProblem(fault.Of(err).HTTPStatus(), fault.Text(err), instance)
	if title := fault.Title(err); title != "" {
		p.Title = title
	}
	return p
}

// Fault converts a problem back to a classified error, so that the command line has the same exit
// code as for a local error.
func (p Problem) Fault() error {
	kind := fault.Internal
	switch p.Status {
	case http.StatusNotFound:
		kind = fault.NotFound
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest:
		kind = fault.Invalid
	case http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		kind = fault.Conflict
	case http.StatusUnauthorized, http.StatusForbidden:
		kind = fault.Forbidden
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway:
		kind = fault.Unavailable
	case http.StatusGatewayTimeout:
		kind = fault.UnknownOutcome
	}
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	return fault.New(kind, "%s", text)
}
