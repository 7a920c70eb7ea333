package zones

import (
	"shardboard/web/templates"
)

// Zones is the model of the zones page.
type Zones struct {
	State      templates.State
	Summary    string
	Level      string
	Zones      []ZoneRow
	Groups     []ZoneGroup
	Violations []templates.Attention
}

// ZoneRow is one zone and the shards that carry it.
type ZoneRow struct {
	Name   string
	Shards []templates.ShardRef
	Ranges int
	Warn   string
	Pin    *templates.Pin // nil: it pins no project
}

// ZoneGroup is the ranges of one collection.
type ZoneGroup struct {
	NS, URL string
	Sharded bool
	Key     string
	Ranges  []ZoneRangeRow
}

// ZoneRangeRow is one range bound to a zone.
type ZoneRangeRow struct {
	Zone     string
	Min, Max templates.Key
	Chunks   string
	OnShards []templates.ShardRef
	Problem  string
}
