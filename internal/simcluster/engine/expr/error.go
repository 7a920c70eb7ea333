package expr

import (
	"errors"

	"shardboard/internal/simcluster/engine/status"
)

// withContext puts "context :: caused by :: " before an error's message, as the
// server does where a stage reports what its parts complained about.
func withContext(err error, context string) error {
	if e, ok := errors.AsType[*status.Error](err); ok {
		return status.Errorf(e.Code, "%s :: caused by :: %s", context, e.Message)
	}
	return err
}
