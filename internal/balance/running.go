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
	ended := map[string]bool{} // donors of which a later entry is known
	for _, e := range t.Events {
		switch e.What {
		case "moveChunk.start", "moveChunk.commit", "moveChunk.error", "moveChunk.from":
		default:
			continue
		}
		from, _ := e.Details.Lookup("from").StringValueOK()
		if from == "" {
			from = e.Shard
		}
		if from == "" || ended[from] {
			continue
		}
		ended[from] = true
		if e.What != "moveChunk.start" {
			continue
		}
		m := Migration{NS: topology.Namespace(e.NS), From: from, Begun: e.Time}
		m.To, _ = e.Details.Lookup("to").StringValueOK()
		m.Min, _ = e.Details.Lookup("min").DocumentOK()
		if m.To != "" && m.To != from {
			out = append(out, m)
		}
	}
	return out
}
