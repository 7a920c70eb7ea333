package answer

import (
	"shardboard/internal/fault"
	"shardboard/web/words"
)

// errorTitle and errorView are the words of a request that failed.
func ErrorTitle(k fault.Kind) string { return words.T("error." + KindCode(k)) }

// kindCode is the catalogue's name of a failure.
func KindCode(k fault.Kind) string {
	switch k {
	case fault.NotFound:
		return "notfound"
	case fault.Invalid:
		return "invalid"
	case fault.Forbidden:
		return "forbidden"
	case fault.Unavailable:
		return "unavailable"
	case fault.Conflict:
		return "conflict"
	case fault.UnknownOutcome:
		return "outcome"
	}
	return "internal"
}
