package site

import (
	"fmt"

	"shardboard/internal/profile"
	"shardboard/web/templates"
)

// noDatabase says what was looked for in vain.
func NoDatabase(p *profile.Profile) templates.State {
	return templates.State{Code: "empty", Title: "No database holds projects",
		Detail: fmt.Sprintf("Looked for %s and %s in one database, or a sharded %s whose key begins with %s. Collections, zones and locate by key work all the same.", p.Names.Collection, p.Keys.Collection, p.Keys.Collection, p.Keys.Project)}
}
