package balance

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Migration is one that the changelog says has begun and not ended.
type Migration struct {
	NS       topology.Namespace
	Min      bson.Raw
	From, To string
	Begun    time.Time
}

// Running are the migrations under way by the changelog: it is best effort and
// at most one poll old, so one that has just begun may be missing. A shard
// takes part in one at a time, so a later entry of the same donor ends an
// older one whose end was never written. Newest first.
func Running(t *topology.Table) []Migration {
	var out []Migration
	for _, m := range topology.LoggedMoves(t.Events) {
		out = append(out, Migration{NS: m.NS, Min: m.Min, From: m.From, To: m.To, Begun: m.Begun})
	}
	return out
}
