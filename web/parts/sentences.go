package parts

import (
	"shardboard/internal/answer"
	"shardboard/web/templates"
)

// Sentences writes messages with links to what the view has.
func Sentences(v answer.View) templates.Sentences {
	return templates.Sentences{Now: v.Now, URL: v.FactURL}
}
