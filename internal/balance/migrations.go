package balance

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Migration is a migration with a start but no end in the changelog.
type Migration struct {
	NS       topology.Namespace
	Min      bson.Raw
	From, To string
	Begun    time.Time
}

// Running lists the running migrations according to the changelog, newest first. The
// changelog is best effort and up to one poll old, so a migration that has just begun
// may be missing. A shard takes part in one at a time, so a later entry of the same
// donor ends an older one whose end was never logged.
func Running(t *topology.Table) []Migration {
	var out []Migration
	for _, m := range topology.LoggedMoves(t.Events) {
		out = append(out, Migration{NS: m.NS, Min: m.Min, From: m.From, To: m.To, Begun: m.Begun})
	}
	return out
}
