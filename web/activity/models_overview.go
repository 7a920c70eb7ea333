package activity

import (
	"shardboard/web/templates"
)

// Activity is the model of the changelog page.
type Activity struct {
	State    templates.State
	LiveURL  string
	Kinds    []templates.Option
	Shards   []templates.Option
	NS       string
	Failed   bool
	Filtered bool
	Rows     []templates.EventRow
	Pager    templates.Pager
	Summary  string
	Moves    templates.Migrations // none where entries are filtered
	Moving   templates.InFlight
	Folded   *templates.Folded
}
