package placement

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

// scriptedCluster returns explain results from a list, repeating the last one, and
// publishes the next table on refresh.
type scriptedCluster struct {
	answers [][]string
	err     error
	asked   int

	table, next *topology.Table
	refreshErr  error
	refreshed   int
}

func (c *scriptedCluster) TargetShards(context.Context, topology.Namespace, bson.D) ([]string, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	return c.answers[min(c.asked, len(c.answers))-1], nil
}

func (c *scriptedCluster) Count(ctx context.Context, _ topology.Namespace, _ bson.D) (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	return 7, ctx.Err()
}

func (c *scriptedCluster) Primaries(context.Context) (map[string]string, error) {
	return map[string]string{"set-a": "a-1:27018"}, c.err
}

func (c *scriptedCluster) Table() *topology.Table { return c.table }

func (c *scriptedCluster) Refresh(context.Context) error {
	c.refreshed++
	if c.refreshErr == nil && c.next != nil {
		c.table = c.next
	}
	return c.refreshErr
}

// tableWithMovedChunk is testTable with project 5's chunk of documents on another
// shard.
func tableWithMovedChunk(to string) *topology.Table {
	out := testTable()
	out.Seq = 9
	c := out.Collection(db + ".documents")
	ch := c.Chunks.At(1)
	ch.Shard, ch.Version = to, topology.Version{Major: 9}
	c.Chunks, _, _ = c.Chunks.Apply([]topology.Chunk{ch})
	return out
}

func TestDifferenceIsCheckedAgainAndNamesTheNewerSide(t *testing.T) {
	lost := fault.New(fault.Unavailable, "The cluster does not answer.")
	for _, x := range []struct {
		name    string
		c       scriptedCluster
		want    ProofState
		newer   Side
		ours    string
		explain int
		reread  int
	}{
		{"the same", scriptedCluster{answers: [][]string{{"b"}}}, ProofAgrees, "", "b", 1, 0},
		{"the mongos was newer", scriptedCluster{answers: [][]string{{"c"}}, next: tableWithMovedChunk("c")},
			ProofCaughtUp, SideRouter, "c", 2, 1},
		{"the table was newer", scriptedCluster{answers: [][]string{{"a"}, {"b"}}}, ProofCaughtUp, SideTable, "b", 2, 1},
		{"the mongos stays outdated", scriptedCluster{answers: [][]string{{"a"}}}, ProofDiffers, SideTable, "b", 2, 1},
		{"the table cannot be refreshed", scriptedCluster{answers: [][]string{{"a"}}, refreshErr: lost}, ProofDiffers, "", "b", 1, 1},
		{"no answer", scriptedCluster{err: lost}, ProofFailed, "", "b", 1, 0},
		{"to no shard at all", scriptedCluster{answers: [][]string{nil}}, ProofDiffers, SideTable, "b", 2, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.c.table = testTable()
			p := placeOf(x.c.table, db+".documents", "", fields{"project_id": ObjectIDValue(oid(5)), "_id": ObjectIDValue(oid(1))})
			got := NewProver(&x.c, &x.c).Prove(t.Context(), p)
			if got.State != x.want || got.Newer != x.newer || !slices.Equal(got.Ours, []string{x.ours}) {
				t.Errorf("got %+v, want state %v, newer %v, our shard %s", got, x.want, x.newer, x.ours)
			}
			if x.c.asked != x.explain || x.c.refreshed != x.reread || got.Reread != (x.reread > 0) {
				t.Errorf("%d explains, %d reads of the table", x.c.asked, x.c.refreshed)
			}
			expect.That(t, !got.At.IsZero() && got.Seq == x.c.table.Seq, "at %v, table %d", got.At, got.Seq)
		})
	}
}

func TestPlacesWithoutAnEqualityFilterAreNotProven(t *testing.T) {
	c := &scriptedCluster{answers: [][]string{{"a"}}, table: testTable()}
	prover := NewProver(c, c)
	text := bson.RawValue{Type: bson.TypeString, Value: []byte{1, 0, 0, 0, 0}}
	regex := bson.RawValue{Type: bson.TypeRegex, Value: []byte{'.', 0, 0}}
	inner := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: []byte{5, 0, 0, 0, 0}}
	for _, p := range []Place{
		{NS: db + ".changes", Exists: "absent", Shards: []string{"a"}, Match: []Equal{{"doc_id", text}}},
		{NS: db + ".changes", Match: []Equal{{"doc_id", text}}},
		{NS: db + ".changes", Shards: []string{"a"}, Match: []Equal{{"doc_id", regex}}},
		{NS: db + ".changes", Shards: []string{"a"}, Match: []Equal{{"doc_id", inner}}},
	} {
		if got := prover.Prove(t.Context(), p); got.State != ProofSkipped {
			t.Errorf("%+v: %+v, want State %v", p, got, ProofSkipped)
		}
	}
	expect.Equal(t, c.asked, 0, "explains")
}

func TestUnknownCountHasAReason(t *testing.T) {
	tab := testTable()
	targeted := placeOf(tab, db+".documents", "", fields{"project_id": ObjectIDValue(oid(5))})
	for _, x := range []struct {
		p    Place
		err  error
		want string
	}{
		{targeted, nil, ""},
		{placeOf(tab, db+".changes", "", fields{"project_id": ObjectIDValue(oid(5))}), nil, "notTargeted"},
		{Place{NS: db + ".projects", Shards: []string{"a"}}, nil, "notCountable"},
		{targeted, fault.New(fault.Forbidden, "No."), "notPermitted"},
		{targeted, fault.New(fault.Unavailable, "Gone."), "unreachable"},
		{targeted, context.DeadlineExceeded, "tooSlow"},
	} {
		c := &scriptedCluster{table: tab, err: x.err}
		if got := NewProver(c, c).Count(t.Context(), x.p); got.Reason != x.want || got.Known != (x.want == "") {
			t.Errorf("%s, %v: %+v", x.p.NS, x.err, got)
		}
	}
}

func TestPrimariesAreUnknownIfTheClusterDoesNotReportThem(t *testing.T) {
	tab := testTable()
	tab.Shards[0].ReplSet = "set-a"
	c := &scriptedCluster{table: tab}
	if got := NewProver(c, c).Primaries(t.Context()); len(got) != 1 || got["a"] != "a-1:27018" {
		t.Errorf(`got %v, want len 1, ["a"] "a-1:27018"`, got)
	}
	c.err = errors.New("code 13")
	if got := NewProver(c, c).Primaries(t.Context()); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

// Only changelog entries about the chunk's own range and the current collection count,
// and a move only if it led to the chunk's current shard.
func TestHistoryCoversOnlyThisChunkOfThisCollection(t *testing.T) {
	tab := testTable()
	c := tab.Collection(db + ".documents")
	born := time.Unix(1000, 0)
	c.Incarnation.Timestamp = bson.Timestamp{T: uint32(born.Unix())}
	i, ch := c.Chunks.Find(routing.Bound(c.Key, oid(5))) // on b
	lo, _ := c.Key.Document(ch.Min)
	hi, _ := c.Key.Document(ch.Max)
	min, _ := c.Key.Document(c.Key.Min())
	ev := func(after time.Duration, what string, d bson.D) topology.Event {
		return topology.Event{What: what, NS: string(c.NS), Time: born.Add(after), Details: must.Get(bson.Marshal(d))}
	}
	here := bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "from", Value: "a"}, {Key: "to", Value: ch.Shard}}
	away := bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "from", Value: "b"}, {Key: "to", Value: "c"}}
	other := bson.D{{Key: "min", Value: min}, {Key: "max", Value: lo}, {Key: "from", Value: "a"}, {Key: "to", Value: ch.Shard}}
	before := bson.D{{Key: "before", Value: bson.D{{Key: "min", Value: min}, {Key: "max", Value: hi}}}}
	for _, x := range []struct {
		name   string
		events []topology.Event
		state  HistoryState
		moved  time.Duration
		cut    time.Duration
	}{
		{"no entries", nil, HistoryBefore, -1, -1},
		{"a move here, then another chunk's", []topology.Event{ev(9, "moveChunk.commit", other), ev(5, "moveChunk.commit", here)},
			HistoryFound, 5, -1},
		{"a move away is not how it came", []topology.Event{ev(9, "moveChunk.commit", away)}, HistoryBefore, -1, -1},
		{"the newest move and the newest cut",
			[]topology.Event{ev(9, "split", before), ev(8, "moveChunk.commit", here), ev(7, "moveChunk.commit", here),
				ev(6, "split", before)}, HistoryFound, 8, 9},
		{"an earlier collection of that name", []topology.Event{ev(-9*time.Second, "moveChunk.commit", here)}, HistoryBefore, -1, -1},
		{"a merge of the list form", []topology.Event{ev(4, "merge", bson.D{{Key: "merged", Value: bson.A{
			bson.D{{Key: "min", Value: min}, {Key: "max", Value: lo}}, bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}}}}})},
			HistoryFound, -1, 4},
		{"damaged details",
			[]topology.Event{{What: "moveChunk.commit", NS: string(c.NS), Time: born.Add(5)},
				ev(3, "split", bson.D{{Key: "before", Value: "x"}})}, HistoryBefore, -1, -1},
	} {
		t.Run(x.name, func(t *testing.T) {
			tab.Events = x.events
			w := WhyChunkOf(tab, c, i)
			at := func(k *Cause) time.Duration {
				if k == nil {
					return -1
				}
				return k.At.Sub(born)
			}
			if h := w.History; h.State != x.state || at(h.Moved) != x.moved || at(h.Cut) != x.cut {
				t.Errorf("%s, moved %v, cut %v", h.State, at(h.Moved), at(h.Cut))
			}
		})
	}
	tab.Events = nil
	tab.Health = map[topology.Part]topology.Health{topology.PartEvents: {Err: errors.New("code 13")}}
	if h := WhyChunkOf(tab, c, i).History; h.State != HistoryUnread {
		t.Errorf("got %+v, want State %v", h, HistoryUnread)
	}
}
