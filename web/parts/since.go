package parts

import (
	"time"

	"shardboard/web/templates"
)

// Since is how long ago a time of an answer was; "never" if there is none.
func Since(at *time.Time, now time.Time) templates.Moment {
	if at == nil {
		return templates.Ago(time.Time{}, now)
	}
	return templates.Ago(*at, now)
}
