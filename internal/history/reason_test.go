package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// orphansText is what a 5.0.7 wrote into moveChunk.to. The other two entries of that
// migration had no reason.
const orphansText = "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{ project_id: " +
	"ObjectId('6600006126d6cf4c63274108') }, { project_id: ObjectId('660000c2b17ce1a5c1c0fa74') }) :: caused by :: operation exceeded " +
	"time limit"

// failedAttempt returns the entries of a failed move as 5.0.7 logs it, newest first,
// with the recorded time differences.
func failedAttempt(t *testing.T, begin time.Time, reason string) []topology.Event {
	var errmsg []bson.E
	if reason != "" {
		errmsg = []bson.E{{Key: "errmsg", Value: reason}}
	}
	aborted := bson.E{Key: "note", Value: "aborted"}
	return []topology.Event{
		changelogEntry(t, begin.Add(10065*time.Millisecond), "moveChunk.from", 1,
			bson.E{Key: "step 1 of 6", Value: int32(0)}, bson.E{Key: "step 2 of 6", Value: int32(24)},
			bson.E{Key: "step 3 of 6", Value: int32(10016)}, aborted),
		changelogEntry(t, begin.Add(10044*time.Millisecond), "moveChunk.error", 1),
		changelogEntry(
			t,
			begin.Add(10040*time.Millisecond),
			"moveChunk.to",
			1,
			append([]bson.E{{Key: "step 1 of 7", Value: int32(3)}, aborted}, errmsg...)...),
		changelogEntry(t, begin, "moveChunk.start", 1),
	}
}

func TestEntriesOfAMoveShareTheReasonThatOneOfThemHas(t *testing.T) {
	events := slices.Concat(failedAttempt(t, noon.Add(30*time.Second), ""),
		failedAttempt(t, noon.Add(15*time.Second), orphansText),
		failedAttempt(t, noon, "Data transfer error: migrate failed: Location51008: operation was interrupted"))
	list := Migrations(&topology.Table{Events: events}, noon.Add(time.Minute), nil, nil)
	must.That(t, len(list) == 3, "got %+v, want len 3", list)
	for i, want := range []Reason{{Code: NoReason}, {orphansText, "moveChunk.to", OrphansWait},
		{"Data transfer error: migrate failed: Location51008: operation was interrupted", "moveChunk.to", CopyStopped}} {
		expect.That(t, list[i].Outcome == Aborted && list[i].Why() == want && list[i].DonorSteps == 6, "%d: %+v", i, list[i])
		why := Reasons(events, nil)
		for _, e := range events[4*i : 4*i+3] {
			expect.Equal(t, why[e.ID], want, "%s of attempt %d", e.What, i)
		}
	}
}

func TestAttemptsWithoutARecordedStartAreNotJoined(t *testing.T) {
	events := slices.Concat(failedAttempt(t, noon.Add(12*time.Second), orphansText)[:3], failedAttempt(t, noon, "")[:3])
	list := Migrations(&topology.Table{Events: events}, noon.Add(time.Minute), nil, nil)
	if len(list) != 2 || list[0].Reason != orphansText || list[1].Reason != "" || len(list[0].Entries) != 3 {
		t.Fatalf("got %+v, want len 2, [0].Reason %v, [1].Reason empty, len([0].Entries) 3", list, orphansText)
	}
}

func TestARecipientMayLogItsReasonLast(t *testing.T) {
	e := failedAttempt(t, noon, orphansText)
	e[0], e[2] = e[2], e[0]
	e[0].Time, e[1].Time, e[2].Time = noon.Add(13*time.Second), noon.Add(12*time.Second), noon.Add(12*time.Second)
	e[1], e[2] = e[2], e[1]
	if list := Migrations(&topology.Table{Events: e}, noon.Add(time.Minute), nil, nil); len(list) != 1 || list[0].Reason != orphansText {
		t.Fatalf("got %+v, want len 1, [0].Reason %v", list, orphansText)
	}
}

func TestOtherBoundsOrShardsAreADifferentMove(t *testing.T) {
	e := failedAttempt(t, noon, orphansText)
	d := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: int64(1)}}},
		{Key: "max", Value: bson.D{{Key: "k", Value: int64(9)}}}, {Key: "from", Value: "a-shard"},
		{Key: "to", Value: "b-shard"}, {Key: "note", Value: "aborted"}}))
	wider := topology.Event{ID: "wider", Time: noon.Add(11 * time.Second), What: "moveChunk.from", NS: "db.things", Details: d}
	events := append([]topology.Event{wider}, e...)
	if why := Reasons(events, nil); why["wider"].Text != "" || why["wider"].Code != NoReason || why[e[1].ID].Text != orphansText {
		t.Fatalf("got %+v, want no reason for the wider range, the recipient's text for the other", why)
	}
}

func TestOwnRunSuppliesTheServersAnswerAsReason(t *testing.T) {
	events := failedAttempt(t, noon, "")
	asked := 0
	runs := func() []OurRun {
		asked++
		return []OurRun{{ID: "r", NS: "db.things", To: "b-shard", Start: noon.Add(-time.Second), End: noon.Add(20 * time.Second),
			Error: `The cluster refused to move a chunk: "Cannot move chunk: the maximum number of documents for a chunk is 2262".`}}
	}
	why := Reasons(events, runs)[events[1].ID]
	if why.From != FromRun || why.Code != ChunkTooBig || asked != 1 {
		t.Fatalf("%+v, asked %d times, want why.From %v, why.Code %v, asked 1", why, asked, FromRun, ChunkTooBig)
	}
	if m := Migrations(&topology.Table{Events: events}, noon, runs(), nil)[0]; m.ReasonFrom != FromRun || m.Cause.By != ByUs {
		t.Fatalf("got %+v, want ReasonFrom %v, Cause.By %v", m, FromRun, ByUs)
	}
	if Reasons(failedAttempt(t, noon, orphansText), runs); asked != 2 {
		t.Fatal("runs were read although the log has the reason")
	}
}

// Texts recorded from a 5.0.7, except where marked.
func TestReasonsAreClassified(t *testing.T) {
	for text, want := range map[string]Code{
		"":                                    NoReason,
		" ":                                   NoReason,
		orphansText:                           OrphansWait,
		"Data transfer error: " + orphansText: OrphansWait,
		"Unable to start new balancer operation because this shard is currently donating chunk [{ _id: { id: UUID(\"0f8\") } }, { _id: { " +
			"id: UUID(\"0fc\") } }) for namespace config.system.sessions to shard-rs-2": OtherMove,
		"Unable to start new balancer operation because this shard is currently receiving chunk [{ p: 2000 }, { p: MaxKey }) for " +
			"namespace faulty.a from shard-rs-1": OtherMove,
		"Data transfer error: migrate failed: Location51008: operation was interrupted": CopyStopped,
		"Cannot move chunk: the maximum number of documents for a chunk is 2262, the maximum chunk size is 1048576, average document size " +
			"is 927. Found 3010 documents in chunk  ns: yorkie-meta.documents { project_id: ObjectId('6') } -> { project_id: " +
			"ObjectId('7') }": ChunkTooBig,
		"moveChunk command failed on source shard. :: caused by :: InterruptedDueToReplStateChange: Failed to contact recipient shard to " +
			"monitor data transfer :: caused by :: operation was interrupted": StepDown,
		"moveChunk command failed on source shard. :: caused by :: NotWritablePrimary: logOp() but can't accept write to collection " +
			"faulty.a: entries: 1: [ (RecordId(null), { op: \"n\" } ) ]": StepDown,
		"not authorized on admin to execute command { moveChunk: 1 }":                                                             NotPermitted,
		"shard-rs-2 is not in the correct zone z3":                                                                                WrongZone,
		"shard-rs-2 is currently draining.":                                                                                       Draining,
		"Collection is undergoing changes and chunks cannot be moved":                                                             MovesBlocked,
		"no chunk found with the shard key bounds [{ p: 5 }, { p: 6 })":                                                           BoundsChanged,
		"moveChunk destination shard does not exist":                                                                              NoShard,
		"Encountered non-retryable error during query :: caused by :: Couldn't get a connection within the time limit":            Unreachable,
		"operation exceeded time limit":                                                                                           TimedOut,
		"E11000 duplicate key error collection: yorkie-meta.documents index: _id_ dup key: { _id: 1 }":                            DuplicateID,
		"E11000 duplicate key error collection: config.migrations index: ns_1_min_1 dup key: { ns: \"faulty.a\", min: { p: 1 } }": OtherMove,
		// a code name instead of a text
		"LockBusy: could not acquire collection lock":                                                       LockBusy,
		"Failed to do it for { key: \"LockBusy, E11000, not authorized\" } and { a: { b: \"timed out\" } }": OtherReason,
		"odd { unclosed: timed out":                                                                         TimedOut,
		"something that nobody knows":                                                                       OtherReason,
	} {
		expect.Equal(t, CodeOf(text), want, "%q", text)
	}
}

func TestGroupKeepsItsFullBounds(t *testing.T) {
	got := Failures(Migrations(&topology.Table{Events: failedAttempt(t, noon, orphansText)}, noon, nil, nil))
	if len(got) != 1 || got[0].Code != OrphansWait ||
		got[0].Reason != "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{…} {…}) :: caused by :: operation "+
			"exceeded time limit" &&
			got[0].Reason != "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{…}, {…}) :: caused by :: operation "+
				"exceeded time limit" {
		t.Fatalf("got %+v, want one group that waits for orphans and whose reason has both bounds as {…}", got)
	}
}

// multiSplits are the entries of the split of config.system.sessions, which 5.0.7
// makes a minute after its first start: one for each of the resulting chunks.
func multiSplits(t *testing.T, n int, at time.Time) []topology.Event {
	t.Helper()
	out := make([]topology.Event, n)
	for i := range out {
		bound := func(b int) bson.D {
			data := append([]byte{byte(b >> 2), byte(b << 6)}, make([]byte, 14)...)
			return bson.D{{Key: "_id", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: data}}}}}
		}
		d := must.Get(bson.Marshal(bson.D{{Key: "before", Value: bson.D{{Key: "min", Value: bound(0)}, {Key: "max", Value: bound(1023)}}},
			{Key: "number", Value: int32(i + 1)}, {Key: "of", Value: int32(n)}, {Key: "chunk", Value: bson.D{{Key: "min", Value: bound(i)},
				{Key: "max", Value: bound(i + 1)}}}, {Key: "owningShard", Value: "a-shard"}}))
		out[n-1-i] = topology.Event{ID: "ms" + strconv.Itoa(i), Time: at.Add(time.Duration(i) * time.Millisecond),
			What: "multi-split", NS: "config.system.sessions", Shard: "config", Details: d}
	}
	return out
}

func TestInternalCollectionsAreLeftOutOfHistoryAndCounted(t *testing.T) {
	db, w := openStore(t), newWorld(t, 3)
	clock := noon.Add(-time.Hour)
	rec := NewRecorder(db, nil, nil, func() time.Time { return clock })
	note := func(at time.Time, change func(*topology.Table)) {
		t.Helper()
		clock = at
		next := *w.table
		change(&next)
		w.table = &next
		must.Do(t, rec.Note(t.Context(), w.table))
	}
	sessions := *w.table.Collections[0]
	sessions.NS = "config.system.sessions"
	note(clock, func(tb *topology.Table) {
		tb.Collections = append([]*topology.Collection{&sessions}, tb.Collections...)
	})
	note(noon.Add(-50*time.Minute), func(tb *topology.Table) { tb.Events = multiSplits(t, 1023, noon.Add(-50*time.Minute)) })
	moved := sessions
	ch := sessions.Chunks.At(0)
	ch.Shard, ch.Version = "c-shard", topology.Version{Major: 90}
	if sessions.Chunks.Owner(0) == ch.Shard {
		ch.Shard = "a-shard"
	}
	m, _, err := sessions.Chunks.Apply([]topology.Chunk{ch})
	must.Do(t, err)
	moved.Chunks = m
	note(noon.Add(-40*time.Minute), func(tb *topology.Table) {
		tb.Collections = append([]*topology.Collection{&moved}, tb.Collections[1:]...)
	})
	note(noon.Add(-30*time.Minute), func(tb *topology.Table) {
		tb.Events = append(failedAttempt(t, noon.Add(-30*time.Minute), orphansText), tb.Events...)
	})
	past := NewPast(db, func() time.Time { return clock })
	q := Query{From: noon.Add(-2 * time.Hour), To: noon, Limit: 2}
	var items []Item
	hidden := 0
	for range 20 {
		got, err := past.Timeline(t.Context(), "c1", q)
		must.Do(t, err)
		items, hidden = append(items, got.Items...), hidden+got.Hidden
		if q.From, q.Skip = got.Next, got.Skip; got.Next.IsZero() {
			break
		}
	}
	// 1,023 splits and the observed move are hidden.
	if len(items) != 4 || hidden != 1024 {
		t.Fatalf("%d items, %d hidden: %+v, want len(items) 4, hidden 1024", len(items), hidden, items)
	}
	for _, i := range items[1:] {
		if !i.Failed || i.Reason != orphansText || i.ReasonFrom != "moveChunk.to" {
			t.Errorf(`%s: %+v, want i.Failed true, i.Reason %v, i.ReasonFrom "moveChunk.to"`, i.Event.What, i, orphansText)
		}
	}
	all, err := past.Timeline(t.Context(), "c1", Query{From: noon.Add(-2 * time.Hour), To: noon, Limit: 5000, Internal: true})
	if err != nil || len(all.Items) != 1028 || all.Hidden != 0 {
		t.Fatalf("%d items, %d hidden, %v, want len(all.Items) 1028, all.Hidden 0", len(all.Items), all.Hidden, err)
	}
	named, err := past.Timeline(t.Context(), "c1", Query{NS: "config.system.sessions", From: noon.Add(-2 * time.Hour), To: noon, Limit: 5000})
	if err != nil || len(named.Items) != 1024 || named.Hidden != 0 {
		t.Fatalf("%d items, %d hidden, %v, want len(named.Items) 1024, named.Hidden 0", len(named.Items), named.Hidden, err)
	}
	// Steps skip the move of the sessions collection, but its own table shows both
	// kinds of entries.
	if at, err := past.Step(t.Context(), "c1", noon.Add(-55*time.Minute), true, false); err != nil || !at.IsZero() {
		t.Errorf("stepped to a hidden change at %s, %v", at, err)
	}
	table, err := past.Table(t.Context(), "c1", noon)
	if err != nil || len(table.Events) != 1000+4 || table.Events[0].What != "moveChunk.from" {
		t.Fatalf("%d entries, %v", len(table.Events), err)
	}
	if c := Compare(w.table, table, false); c.Hidden != 0 || len(c.Collections) != 0 {
		t.Errorf("got %+v, want Hidden 0, len(Collections) 0", c)
	}
	before, err := past.Table(t.Context(), "c1", noon.Add(-55*time.Minute))
	must.Do(t, err)
	if c := Compare(before, table, false); c.Hidden != 1 || len(c.Collections) != 0 || c.Shards[0].ChunksBefore != c.Shards[0].ChunksAfter {
		t.Errorf("got %+v, want one hidden collection and unchanged chunk counts", c)
	}
	if c := Compare(before, table, true); c.Hidden != 0 || len(c.Collections) != 1 || c.Collections[0].Moved != 1 {
		t.Errorf("got %+v, want Hidden 0, len(Collections) 1, Collections[0].Moved 1", c)
	}
}

// As an 8.0.10 logged a move that waited for the deletion of old documents: no entry has a reason, and the recipient
// ended after ten seconds without a step.
func TestAWaitForOldDocumentsIsRecognisedWithoutAReason(t *testing.T) {
	begin := time.Date(2026, 11, 28, 8, 32, 28, 0, time.UTC)
	entry := func(id, what string, after time.Duration, more ...bson.E) topology.Event {
		d := append(bson.D{{Key: "min", Value: bson.D{{Key: "p", Value: 20}}}, {Key: "max", Value: bson.D{{Key: "p", Value: 25}}},
			{Key: "from", Value: "shard-rs-3"}, {Key: "to", Value: "shard-rs-1"}}, more...)
		raw := must.Get(bson.Marshal(d))
		return topology.Event{ID: id, What: what, NS: "eight.t", Time: begin.Add(after), Details: raw}
	}
	aborted := bson.E{Key: "note", Value: "aborted"}
	step := func(n, of int) bson.E { return bson.E{Key: fmt.Sprintf("step %d of %d", n, of), Value: 5} }
	for _, tc := range []struct {
		took  time.Duration
		steps []bson.E
		want  Code
	}{
		{10056 * time.Millisecond, nil, OrphansLikely},
		{83 * time.Millisecond, []bson.E{step(1, 8), step(2, 8), step(3, 8)}, NoReason}, // interrupted while it copied
		{11280 * time.Millisecond, []bson.E{step(1, 8)}, NoReason},
		{200 * time.Millisecond, nil, NoReason},
	} {
		events := []topology.Event{
			entry("from", "moveChunk.from", tc.took+22*time.Millisecond, step(1, 6), step(2, 6), step(3, 6), aborted),
			entry("error", "moveChunk.error", tc.took+5*time.Millisecond),
			entry("to", "moveChunk.to", tc.took, append(tc.steps, aborted)...),
			entry("start", "moveChunk.start", 0),
		}
		for id, r := range Reasons(events, nil) {
			if r.Code != tc.want || r.Text != "" {
				t.Errorf("after %s with %d steps, %s: got %+v, want %s", tc.took, len(tc.steps), id, r, tc.want)
			}
		}
		if got := Failures(Migrations(&topology.Table{Events: events}, begin.Add(time.Hour), nil, nil)); len(got) != 1 || got[0].Code != tc.want {
			t.Errorf("after %s: got %+v, want one group %s", tc.took, got, tc.want)
		}
	}
}

// A server text is replaced by one of our own phrases. Pages that classify the phrase
// must get the same code as those that classify the text.
func TestPhraseHasTheSameCodeAsTheServersText(t *testing.T) {
	for _, kind := range reasonPhrases {
		for _, phrase := range kind.any {
			expect.Equal(t, CodeOf(phrase), kind.code, "%q alone", phrase)
			text := "host-3 said " + phrase + ": {_id: 17, note: \"StaleConfig\"}"
			if got := Phrase(text); CodeOf(got) != CodeOf(text) || !strings.Contains(text, got) || strings.Contains(got, "17") {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	}
	for _, unknown := range []string{"", " ", "something about {_id: 17}", "17"} {
		if got := Phrase(unknown); got != "" {
			t.Errorf("%q becomes %q, want empty", unknown, got)
		}
	}
}
