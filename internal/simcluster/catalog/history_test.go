package catalog

import (
	"testing"
	"testing/synctest"
	"time"
)

// A chunk that moves after a long time keeps the last history entry; older entries are
// removed.
func TestChunkHistoryKeepsItsLastEntryHoweverOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t)
		defer p.c.Close()
		p.mustRun(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
		p.mustRun(`{"shardCollection": "db.c", "key": {"k": 1}}`)
		for _, shard := range []string{"shard-rs-2", "shard-rs-3"} {
			time.Sleep(time.Hour)
			p.mustRun(`{"moveChunk": "db.c", "find": {"k": 1}, "to": "` + shard + `"}`)
		}
		h := p.c.Routing("db.c").Chunks()[0].History
		if len(h) != 2 || h[0].Shard != "shard-rs-3" || h[1].Shard != "shard-rs-2" {
			t.Errorf(`history %v, want len 2, [0].Shard "shard-rs-3", [1].Shard "shard-rs-2"`, h)
		}
	})
}
