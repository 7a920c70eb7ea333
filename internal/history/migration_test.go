package history

import (
	"strconv"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// changelogEntry is a changelog entry about a move of the range that begins at min.
func changelogEntry(t *testing.T, at time.Time, what string, min int, more ...bson.E) topology.Event {
	t.Helper()
	d := append(
		bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: int64(min)}}}, {Key: "max", Value: bson.D{{Key: "k", Value: int64(min + 1)}}},
			{Key: "from", Value: "a-shard"}, {Key: "to", Value: "b-shard"}},
		more...)
	raw := must.Get(bson.Marshal(d))
	return topology.Event{ID: what + strconv.Itoa(min) + at.String(), Time: at, What: what, NS: "db.things", Shard: "a-shard", Details: raw}
}

// completedMove returns the four entries, newest first, of a move that took this many
// seconds.
func completedMove(t *testing.T, end time.Time, min, seconds int) []topology.Event {
	begin := end.Add(-time.Duration(seconds) * time.Second)
	return []topology.Event{
		changelogEntry(t, end, "moveChunk.from", min, bson.E{Key: "step 1 of 6", Value: int32(0)},
			bson.E{Key: "step 4 of 6", Value: int32(seconds * 1000)}, bson.E{Key: "note", Value: "success"}),
		changelogEntry(t, end.Add(-time.Millisecond), "moveChunk.commit", min,
			bson.E{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}}}),
		changelogEntry(t, end.Add(-2*time.Millisecond), "moveChunk.to", min,
			bson.E{Key: "step 1 of 7", Value: int32(3)}, bson.E{Key: "note", Value: "success"}),
		changelogEntry(t, begin, "moveChunk.start", min),
	}
}

func TestEntriesOfAMoveAreOneMigrationWithItsSteps(t *testing.T) {
	got := Migrations(&topology.Table{Events: completedMove(t, noon, 1, 12)}, noon, nil, nil)
	must.That(t, len(got) == 1, "got %+v, want len 1", got)
	m := got[0]
	if m.Outcome != Done || m.Took(noon) != 12*time.Second || m.Documents != 7 || m.Bytes != 700 || m.DonorSteps != 6 || len(m.Donor) != 4 ||
		m.Donor[3] != 12*time.Second || m.RecipientSteps != 7 || m.From != "a-shard" || m.To != "b-shard" {
		t.Fatalf("got %+v, want a finished migration of 12 s from a-shard to b-shard with all its steps", m)
	}
}

func TestRunningMigrationIsEstimatedFromEarlierOnes(t *testing.T) {
	events := []topology.Event{changelogEntry(t, noon.Add(-4*time.Second), "moveChunk.start", 9)}
	for i, took := range []int{10, 30, 20} {
		events = append(events, completedMove(t, noon.Add(-time.Duration(i+1)*time.Hour), i, took)...)
	}
	got := Migrations(&topology.Table{Events: events}, noon, nil, nil)
	if len(got) != 4 || got[0].Outcome != Running || got[0].ETA == nil || got[0].ETA.Basis != 3 || !got[0].ETA.SameColl ||
		!got[0].ETA.At.Equal(noon.Add(16*time.Second)) ||
		got[0].ETA.Late != 0 {
		t.Fatalf("got %+v, want 16 s more, estimated from three migrations of the collection", got[0])
	}
	if late := Migrations(&topology.Table{Events: events}, noon.Add(time.Minute), nil, nil); late[0].ETA.Late != 44*time.Second {
		t.Fatalf("got %+v, want Late %v", late[0].ETA, 44*time.Second)
	}
	events = append(events, completedMove(t, noon.Add(-5*time.Hour), 4, 0)...)
	for i := range events {
		if events[i].What == "moveChunk.commit" && events[i].Time.Before(noon.Add(-4*time.Hour)) {
			events[i].Details = changelogEntry(t, noon, "", 4,
				bson.E{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(0)}, {Key: "clonedBytes", Value: int64(0)}}}).Details
		}
	}
	if got := Migrations(&topology.Table{Events: events}, noon, nil, nil); got[0].ETA == nil || got[0].ETA.Basis != 3 {
		t.Fatalf("a range without documents was used for the estimate: %+v", got[0].ETA)
	}
	if few := Migrations(&topology.Table{Events: events[:5]}, noon, nil, nil); few[0].ETA != nil {
		t.Fatalf("got %+v, want nil", few[0].ETA)
	}
}

func TestMigrationAfterADonorFailoverIsUnknownUnlessTheTableProvesIt(t *testing.T) {
	events := []topology.Event{changelogEntry(t, noon.Add(-time.Hour), "moveChunk.start", 1)}
	w := newWorld(t, 1)
	table := *w.table
	table.Events = events
	_, ch := table.Collections[0].Chunks.Find(mustBound(table.Collections[0], events[0]))
	want := Unclear
	if ch.Shard == "b-shard" {
		want = Done
	}
	if got := Migrations(&table, noon, nil, nil); got[0].Outcome != want {
		t.Fatalf("got %+v, want Outcome %v", got[0], want)
	}
	// The same range on the recipient proves that the move succeeded.
	c := *table.Collections[0]
	ch.Shard, ch.Version = "b-shard", topology.Version{Major: 99}
	m, _, err := c.Chunks.Apply([]topology.Chunk{ch})
	must.Do(t, err)
	c.Chunks = m
	table.Collections = []*topology.Collection{&c}
	if got := Migrations(&table, noon, nil, nil); got[0].Outcome != Done {
		t.Fatalf("got %+v, want Outcome %v", got[0], Done)
	}
	if got := Migrations(&topology.Table{Events: events}, noon, nil, nil); got[0].Outcome != Unclear {
		t.Fatalf("got %+v, want Outcome %v", got[0], Unclear)
	}
}

func TestMoveToTheSameShardIsNotAMigration(t *testing.T) {
	e := changelogEntry(t, noon, "moveChunk.from", 1, bson.E{Key: "note", Value: "aborted"})
	raw := must.Get(bson.Marshal(bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "a"}, {Key: "note", Value: "aborted"}}))
	e.Details = raw
	if got := Migrations(&topology.Table{Events: []topology.Event{e}}, noon, nil, nil); len(got) != 0 {
		t.Fatalf("got %+v, want len 0", got)
	}
}

func TestFailuresAreGroupedBySimilarReasons(t *testing.T) {
	var events []topology.Event
	for i := range 5 {
		reason := "chunk too big: 1234" + strconv.Itoa(i) + " bytes in range { k: " + strconv.Itoa(i) + " }"
		if i == 4 {
			reason = ""
		}
		events = append(events, changelogEntry(t, noon.Add(-time.Duration(i)*time.Minute), "moveChunk.from", i,
			bson.E{Key: "step 1 of 6", Value: int32(5)}, bson.E{Key: "note", Value: "aborted"}, bson.E{Key: "errmsg", Value: reason}))
	}
	got := Failures(Migrations(&topology.Table{Events: events}, noon, nil, nil))
	if len(got) != 2 || got[0].Count != 4 || got[0].Reason != "chunk too big: … bytes in range {…}" || got[1].Reason != "" ||
		got[1].Count != 1 ||
		got[0].By[ByUnknown] != 4 {
		t.Fatalf("got %+v, want a group of 4 failures of unknown origin and one without a reason", got)
	}
}

func TestMalformedDetailsGiveNoSteps(t *testing.T) {
	d := must.Get(bson.Marshal(bson.D{{Key: "step 99999999 of 99999999", Value: int32(1)},
		{Key: "step 2 of 3", Value: "x"}, {Key: "step 3 of 2", Value: int32(1)},
		{Key: "step 1 of 2", Value: int64(-5)}, {Key: "step 1 of 3 more", Value: int32(1)}}))
	if took, of := steps(d); took != nil || of != 0 {
		t.Fatalf("got %v, %v, want took nil, of 0", took, of)
	}
}

func mustBound(c *topology.Collection, e topology.Event) shardkey.Key {
	return must.Get(c.Key.Bound(topology.DocumentField(e.Details, "min")))
}

func TestReasonsAreGroupedAcrossCollections(t *testing.T) {
	var events []topology.Event
	for i, ns := range []string{"db.things", "db.others", "db.thing"} {
		e := changelogEntry(t, noon.Add(-time.Duration(i)*time.Minute), "moveChunk.from", i, bson.E{Key: "note", Value: "aborted"},
			bson.E{Key: "errmsg", Value: "Failed to delete orphaned " + ns + " range; see '" + ns + "'."})
		e.NS = ns
		events = append(events, e)
	}
	got := Failures(Migrations(&topology.Table{Events: events}, noon, nil, nil))
	if len(got) != 1 || got[0].Count != 3 || len(got[0].NS) != 3 || got[0].Reason != "Failed to delete orphaned … range; see '…'." {
		t.Fatalf(`got %+v, want len 1, [0].Count 3, len([0].NS) 3, [0].Reason "Failed to delete orphaned … range; see '…'."`, got)
	}
}
