package site

import (
	"shardboard/internal/profile"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// noDatabase says what was looked for in vain.
func NoDatabase(p *profile.Profile) templates.State {
	return templates.State{Code: "empty", Title: words.T("projects.nodatabase"),
		Detail: words.T("projects.nodatabase.detail", "projects", p.Names.Collection, "documents", p.Keys.Collection, "field", p.Keys.Project)}
}
