package web

import (
	"shardboard/internal/answer"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// attention is the list of problems as the overview shows it, without its limit.
func attention(v answer.View) []templates.Attention { return parts.ProblemList(v, v.Problems().Items) }
