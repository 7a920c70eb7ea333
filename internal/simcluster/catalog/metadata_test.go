package catalog

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// hashedCollection makes a cluster of a version with one collection sharded by a hashed
// key.
func hashedCollection(t *testing.T, version [3]int) *fixture {
	c := New(Options{Version: version, Still: true, Seed: 9})
	t.Cleanup(c.Close)
	p := &fixture{t: t, c: c, handlers: c.Handlers()}
	p.mustRun(`{"enableSharding": "db"}`)
	p.mustRun(`{"shardCollection": "db.t", "key": {"k": "hashed"}}`)
	return p
}

func (p *fixture) firstDocument(coll string) bson.Raw {
	for _, doc := range p.c.config.all(coll) {
		return doc
	}
	return nil
}

func fieldNames(t *testing.T, d bson.Raw) []string {
	t.Helper()
	elements, err := d.Elements()
	must.Do(t, err)
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = e.Key()
	}
	return out
}

func TestChunkDocumentsHaveTheFieldsOfTheirVersion(t *testing.T) {
	for _, v := range []struct {
		version [3]int
		want    []string
		chunks  int
	}{
		{[3]int{4, 4, 29}, []string{"_id", "ns", "min", "max", "shard", "lastmod", "lastmodEpoch", "history"}, 6},
		{[3]int{5, 0, 7}, []string{"_id", "uuid", "min", "max", "shard", "lastmod", "history"}, 6},
		{[3]int{6, 0, 19}, []string{"_id", "uuid", "min", "max", "shard", "lastmod", "history"}, 6},
		{[3]int{7, 0, 12}, []string{"_id", "uuid", "min", "max", "shard", "lastmod", "onCurrentShardSince", "history"}, 6},
		{[3]int{8, 0, 1}, []string{"_id", "uuid", "min", "max", "shard", "lastmod", "onCurrentShardSince", "history"}, 3},
	} {
		t.Run(fmt.Sprint(v.version), func(t *testing.T) {
			p := hashedCollection(t, v.version)
			expect.EqualSlices(t, fieldNames(t, p.firstDocument("chunks")), v.want, "fields")
			expect.Equal(t, p.c.Routing("db.t").Len(), v.chunks, "chunks")
		})
	}
}

func TestZonesSetBeforeShardingSplitTheEmptyCollection(t *testing.T) {
	p := hashedCollection(t, [3]int{})
	p.mustRun(`{"addShardToZone": "shard-rs-2", "zone": "z"}`)
	p.mustRun(`{"updateZoneKeyRange": "db.z", "min": {"p": 10}, "max": {"p": 20}, "zone": "z"}`)
	p.mustRun(`{"shardCollection": "db.z", "key": {"p": 1}}`)
	var got []string
	for _, ch := range p.c.Routing("db.z").Chunks() {
		got = append(got, rangeText(ch.Min, ch.Max)+" "+ch.Shard)
	}
	want := []string{
		"[{ p: MinKey }, { p: 10 }) shard-rs-1", "[{ p: 10 }, { p: 20 }) shard-rs-2", "[{ p: 20 }, { p: MaxKey }) shard-rs-2",
	}
	expect.That(t, slices.Equal(got, want), "got %v, want %v", got, want)
}

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

// The client that looks late sees both channels ready: chance must not choose what it gets.
func TestAnAnswerBeforeTheEndIsKeptAfterIt(t *testing.T) {
	cut := errors.New("cut")
	c := newCompletion()
	c.answer(cut)
	c.answer(errors.New("a second answer"))
	close(c.done)
	for range 100 {
		if err := c.wait(t.Context()); !errors.Is(err, cut) {
			t.Fatalf("answered %v", err)
		}
	}
}
