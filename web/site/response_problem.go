package site

import (
	"errors"
	"net/http"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
)

// extended adds to a problem what a plan that cannot be run has to tell: what
// changed, field by field (409), or which checks block (422).
func extended(p api.Problem, err error) api.Problem {
	var changed *engine.ChangedError
	var blocked *engine.BlockedError
	switch {
	case errors.As(err, &changed):
		p.Changed = changing.DifferencesOf(changed.Differences)
	case errors.As(err, &blocked):
		p.Status, p.Title = http.StatusUnprocessableEntity, http.StatusText(http.StatusUnprocessableEntity)
		p.Checks = changing.ChecksOf(blocked.Checks)
	}
	return p
}
