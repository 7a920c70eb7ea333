package heat

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// textProjects writes 3 rows a second of one project and 1 of another; both have texts as ids.
type textProjects struct{ changedOf map[string]bool }

func textID(s string) bson.RawValue {
	kind, data, err := bson.MarshalValue(s)
	if err != nil {
		panic(err) // a text can be marshalled
	}
	return bson.RawValue{Type: kind, Value: data}
}

func (p textProjects) Writes(_ context.Context, q WriteQuery) (out Written, err error) {
	if q.Date != "" {
		p.changedOf[q.Of.StringValue()] = true
		return Written{Counts: []Count{{Rows: 7}}}, nil
	}
	for name, rate := range map[string]int64{"alpha": 3, "zulu": 1} {
		id, stored, _ := placement.IDOf(textID(name))
		out.Counts = append(out.Counts, Count{Project: id, Rows: rate * int64(q.To.Sub(q.From).Seconds())})
		out.Stored = out.Stored.With(id, stored)
	}
	return out, nil
}

func (textProjects) Operations(context.Context, topology.Namespace) (map[string]Operations, error) {
	return nil, errors.New("none")
}

func TestWritesOfProjectsWithTextsAsIDsAreCountedInTheirChunks(t *testing.T) {
	byProject := routing.Pattern("project_id")
	table := yorkieTable()
	table.Collections[0] = routing.Collection("y.changes", byProject, routing.Bounds(byProject, "alpha", "beta"), "a", "b", "a")
	src := textProjects{changedOf: map[string]bool{}}
	c := collectFor(t, table, src, 3*time.Minute, Options{Seed: 1}, nil)
	col := table.Collection("y.changes")
	w := c.recent(col.NS)
	chunks := w.Chunks(table, profile.Yorkie())
	if len(chunks) != 2 || chunks[0].Chunk != 1 || chunks[0].Rate.PerSecond != 3 || chunks[0].Shard != "b" || chunks[1].Chunk != 2 ||
		chunks[1].Rate.PerSecond != 1 {
		t.Fatalf("chunks %+v, want 3 writes a second in that of alpha and 1 in the last", chunks)
	}
	if s := w.Splittings(table, profile.Yorkie(), chunks); !s[1].Can || s[1].Code != "project" {
		t.Errorf("%+v, want that the writes of the last chunk are of one project", s[1])
	}
	alpha, _, _ := placement.IDOf(textID("alpha"))
	if got := w.OwnerOf(table, profile.Yorkie(), Line{Project: alpha}); got != "b" {
		t.Errorf("alpha is on %q, want shard b", got)
	}
	for i, got := range c.Written(t.Context(), &newestRows{}, table, col.NS, chunkRanges(col)) {
		want := []float64{0, 3, 1}[i]
		if got.Method != topology.WritesCounted || got.PerSecond != want || i == 1 && got.Keys[0].Project != alpha {
			t.Errorf("range %d: %+v, want %v writes a second", i, got, want)
		}
	}
	if !src.changedOf["alpha"] || !src.changedOf["zulu"] {
		t.Errorf("changed rows are counted of %v, want both projects", src.changedOf)
	}
	merged := mergeSlots(c.Since(col.NS, time.Time{}))
	if id, ok := merged.Stored.Value(alpha); !ok || id.StringValue() != "alpha" {
		t.Errorf("after merging, alpha is stored as %v", id)
	}
}

func TestAChunkWithRoomForOneTextCannotBeSplit(t *testing.T) {
	byProject := routing.Pattern("project_id")
	table := yorkieTable()
	table.Collections[0] = routing.Collection("y.changes", byProject, routing.Bounds(byProject, "alpha", "alpha\x00"), "a", "b", "a")
	c := collectFor(t, table, textProjects{changedOf: map[string]bool{}}, time.Minute, Options{Seed: 1}, nil)
	w := c.recent("y.changes")
	chunks := w.Chunks(table, profile.Yorkie())
	if s := w.Splittings(table, profile.Yorkie(), chunks); s[0].Can || s[0].Code != "single" {
		t.Errorf("%+v, want that the chunk of alpha has one value", s[0])
	}
}

// textDocuments writes 9 rows a second of one document and 1 of another; both have texts as ids.
type textDocuments struct{}

func (textDocuments) Writes(_ context.Context, q WriteQuery) (out Written, err error) {
	for name, rate := range map[string]int64{"sku-1": 9, "sku-2": 1} {
		id, stored, _ := placement.IDOf(textID(name))
		out.Counts = append(out.Counts, Count{Project: docID(1, 0), Document: id, Rows: rate * int64(q.To.Sub(q.From).Seconds())})
		out.Stored = out.Stored.With(id, stored)
	}
	return out, nil
}

func (textDocuments) Operations(context.Context, topology.Namespace) (map[string]Operations, error) {
	return nil, errors.New("none")
}

func TestWritesOfDocumentsWithTextsAsIDsAreCountedOneByOne(t *testing.T) {
	table := yorkieTable() // by the hash of the document
	c := collectFor(t, table, textDocuments{}, 3*time.Minute, Options{Seed: 1}, nil)
	col := table.Collection("y.changes")
	key, err := col.Key.KeyOf(textID("sku-1"))
	must.Do(t, err)
	at, _ := col.Chunks.Find(key)
	w := c.recent(col.NS)
	documents := w.Documents()
	if len(documents) != 2 || w.DocumentText(documents[0].Document) != "sku-1" || w.DocumentOf("sku-1") != documents[0].Document {
		t.Fatalf("documents %+v, want sku-1 and sku-2", documents)
	}
	if got := w.OwnerOf(table, profile.Yorkie(), documents[0]); got != col.Chunks.Owner(at) {
		t.Errorf("sku-1 is on %q, want the owner of its hash, %s", got, col.Chunks.Owner(at))
	}
	chunks := w.Chunks(table, profile.Yorkie())
	s := w.Splittings(table, profile.Yorkie(), chunks)[0]
	if chunks[0].Chunk != at || s.Code != "document" || s.DocumentText != "sku-1" {
		t.Errorf("chunk %+v %+v, want that the one of sku-1 is hot by one document", chunks[0], s)
	}
	if got := c.Written(t.Context(), &newestRows{}, table, col.NS, chunkRanges(col))[at]; got.Method != topology.WritesCounted ||
		got.Keys[0].DocumentText != "sku-1" && got.Keys[len(got.Keys)-1].DocumentText != "sku-1" {
		t.Errorf("%+v, want counted writes of sku-1", got)
	}
	one := Slot{Counts: make([]Count, 2*keepDocuments)}
	for i := range one.Counts {
		id, stored, _ := placement.IDOf(textID(fmt.Sprint("item ", i)))
		one.Counts[i] = Count{Project: docID(1, 0), Document: id, Rows: int64(i)}
		one.Stored = one.Stored.With(id, stored)
	}
	if n := len(mergeSlots([]Slot{one, one}).Stored); n != keepDocuments {
		t.Errorf("%d ids are kept of %d documents", n, keepDocuments)
	}
}
