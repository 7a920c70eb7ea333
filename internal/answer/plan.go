package answer

import (
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

const (
	MovesListed = 50
	TextShown   = 300 // bytes of a reason or an error
)

func RiskLevel(r actions.Risk) string {
	switch r {
	case actions.Low:
		return "ok"
	case actions.Medium:
		return "note"
	}
	return "bad"
}

func PersonOf(p auth.Principal) string {
	if p.Name != "" {
		return sanitize.Truncate(sanitize.Sentence(p.Name), 80)
	}
	return sanitize.Truncate(sanitize.Sentence(p.ID), 80)
}

// millisText is a duration in milliseconds, in words.
func MillisText(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d > 0 && d < time.Second {
		return "less than 1 s"
	}
	return format.Span(d)
}
