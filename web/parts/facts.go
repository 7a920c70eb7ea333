package parts

import (
	"time"

	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// Count writes a count of an answer for a page.
func Count(f api.Figure) templates.Figure { return CountFigure(tableFigure(f)) }

// Bytes writes a size of an answer for a page.
func Bytes(f api.Figure) templates.Figure { return BytesFigure(tableFigure(f)) }

func tableFigure(f api.Figure) topology.Figure {
	if f.Value == nil {
		return topology.Figure{Reason: f.Reason}
	}
	return topology.Figure{Known: true, Value: *f.Value, Exact: f.Exact, PlusMinus: f.PlusMinus, Method: f.Method, At: f.At}
}

// Since is how long ago a time of an answer was; "never" if there is none.
func Since(at *time.Time, now time.Time) templates.Moment {
	if at == nil {
		return templates.Ago(time.Time{}, now)
	}
	return templates.Ago(*at, now)
}
