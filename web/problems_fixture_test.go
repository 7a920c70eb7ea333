package web

import "shardboard/web/templates"

// attention is the list of problems as the overview shows it, without its limit.
func attention(v View) []templates.Attention { return problemList(v, v.problems().Items) }
