package api

import (
	"net/http"

	"shardboard/internal/fault"
)

// ProblemType is the media type of every error answer (RFC 9457).
const ProblemType = "application/problem+json"

// Problem is an error answer. Type is always about:blank: the status says
// which kind it is, and Detail is the sentence for a person.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Instance string `json:"instance"` // the request's path, without its query

	Changed []Difference `json:"changed,omitempty"` // 409: what the cluster is not as planned in
	Checks  []PlanCheck  `json:"checks,omitempty"`  // 422: which checks block
}

// NewProblem is the problem of a status that no fault stands behind, such as
// 405 or 421.
func NewProblem(status int, detail, instance string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Instance: instance}
}

// ProblemOf tells err to a client without its cause.
func ProblemOf(err error, instance string) Problem {
	p := NewProblem(fault.Of(err).HTTPStatus(), fault.Text(err), instance)
	if title := fault.Title(err); title != "" {
		p.Title = title
	}
	return p
}

// Fault turns a problem read from a server back into a classified error, so
// that the command line ends with the exit code the same failure has locally.
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
