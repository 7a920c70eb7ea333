package web_test

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
)

// attention is the list of problems as the overview shows it, without its limit.
func attention(v answer.View) []api.ProblemLine { return answer.ProblemLines(v, v.Problems().Items) }
