package catalog

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// grow inserts n documents of about a kilobyte with the given keys.
func (p *fixture) grow(n int, key func(i int) int32) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	for i := range n {
		d := encode(bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: key(i)}, {Key: "pad", Value: strings.Repeat("x", 980)}})
		if err := p.insertRouted("db", "t", d); err != nil {
			p.t.Fatal(err)
		}
		k, _ := p.c.Routing("db.t").KeyOf(d)
		p.c.NoteWrite("db.t", k, len(d))
	}
}

func growingCluster(t *testing.T) *fixture {
	p := newFixture(t)
	p.mustRun(`{"enableSharding": "db"}`)
	p.mustRun(`{"shardCollection": "db.t", "key": {"p": 1}}`)
	p.c.Mu.Lock()
	p.c.setSetting("chunksize", bson.D{{Key: "value", Value: int32(1)}})
	p.c.Mu.Unlock()
	return p
}

func TestGrowingChunkIsSplit(t *testing.T) {
	p := growingCluster(t)
	p.grow(8000, func(i int) int32 { return int32(i * 7919 % 8000) })
	p.checkInvariants()
	n := p.c.Routing("db.t").Len()
	if n < 8 || n > 24 {
		t.Fatalf("%d chunks of at most 1 MB for 8 MB", n)
	}
	if p.changelogCount("split")+p.changelogCount("multi-split") == 0 {
		t.Error("no split in the change log")
	}
	for _, ch := range p.c.Routing("db.t").Chunks() {
		if docs := p.c.data(ch.Shard, "db.t").CountRange(p.c.Routing("db.t").Key, ch.Min, ch.Max); docs > 1400 {
			t.Errorf("chunk %s holds %d documents, want at most 1400", rangeText(ch.Min, ch.Max), docs)
		}
	}
}

func TestChunkOfOneKeyIsNeverSplit(t *testing.T) {
	p := growingCluster(t)
	p.grow(4000, func(int) int32 { return 7 })
	if n := p.c.Routing("db.t").Len(); n > 2 {
		t.Fatalf("%d chunks, want at most 2", n)
	}
}

func TestAStoppedBalancerStopsSplitting(t *testing.T) {
	p := growingCluster(t)
	p.mustRun(`{"balancerStop": 1}`)
	p.grow(4000, func(i int) int32 { return int32(i) })
	if n := p.c.Routing("db.t").Len(); n != 1 {
		t.Fatalf("%d chunks, want 1", n)
	}
}
