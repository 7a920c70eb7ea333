package web_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/changes"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// orphansReason is what a 5.0.7 wrote into moveChunk.to alone.
const orphansReason = "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{ project_id: " +
	"ObjectId('6600006126d6cf4c63274108') }, { project_id: ObjectId('660000c2b17ce1a5c1c0fa74') }) :: caused by :: operation exceeded " +
	"time limit"

// failedAttempt is a failed move of a chunk as 5.0.7 logs it, newest first.
func failedAttempt(t testing.TB, table *topology.Table, chunk int, begin time.Time, reason string) []topology.Event {
	aborted := bson.E{Key: "note", Value: "aborted"}
	to := []bson.E{{Key: "step 1 of 7", Value: int32(3)}, aborted}
	if reason != "" {
		to = append(to, bson.E{Key: "errmsg", Value: reason})
	}
	return []topology.Event{
		webtest.MoveEntry(
			t,
			table,
			chunk,
			begin.Add(10065*time.Millisecond),
			"moveChunk.from",
			bson.E{Key: "step 1 of 6", Value: int32(0)},
			bson.E{Key: "step 2 of 6", Value: int32(10040)},
			aborted,
		),
		webtest.MoveEntry(t, table, chunk, begin.Add(10044*time.Millisecond), "moveChunk.error"),
		webtest.MoveEntry(t, table, chunk, begin.Add(10040*time.Millisecond), "moveChunk.to", to...),
		webtest.MoveEntry(t, table, chunk, begin, "moveChunk.start"),
	}
}

// withFailures is a site whose log has a move that failed with a reason in one of
// its entries, and one without any.
func withFailures(t *testing.T, more ...topology.Event) *webtest.Server {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = slices.Concat(
		more,
		failedAttempt(t, &table, 3, webtest.Epoch.Add(-time.Minute), orphansReason),
		failedAttempt(t, &table, 5, webtest.Epoch.Add(-10*time.Minute), ""),
	)
	s.Watcher.Publish(&table)
	return s
}

func TestAFailedMoveShowsItsReasonWhereverItIsListed(t *testing.T) {
	s := withFailures(t)
	c := s.Watcher.Get().Collection(webtest.DocumentsNS)
	chunk := answer.ChunkURL(webtest.DocumentsNS, answer.ChunkRef(c, c.Chunks.At(3).Min))
	for page, where := range map[string]string{
		"/":                  ".events li.failed",
		"/activity":          ".events li.failed",
		"/activity?failed=1": ".events li.failed",
		"/activity?kind=all": ".events li.failed",
		"/activity ":         ".timings tr.reasons",
		"/activity  ":        ".failures tbody tr",
		answer.CollectionURL(webtest.DocumentsNS): "section li.failed",
		chunk:                         "section li.failed",
		answer.ShardURL("shard-rs-2"): "section li.failed",
		answer.ShardURL("shard-rs-1"): "section li.failed",
	} {
		w := s.Do("GET", strings.TrimSpace(page))
		text := webtest.ParseHTML(t, w.Body.String()).Find(where).Text()
		if w.Code != 200 || !strings.Contains(text, orphansReason) || !strings.Contains(text, "has not yet deleted its old documents") {
			t.Errorf("%s: %d %q", page, w.Code, text)
		}
		if page != chunk && !strings.Contains(text, "The server gave no reason.") {
			t.Errorf("%s does not say that the other has none: %q", page, text)
		}
	}
	other := answer.ChunkURL(webtest.DocumentsNS, answer.ChunkRef(c, c.Chunks.At(7).Min))
	if text := webtest.ParseHTML(t, s.Do("GET", other).Body.String()).Text(); strings.Contains(text, "orphaned") {
		t.Error("the page of another chunk has it")
	}
	if text := webtest.ParseHTML(t, s.Do("GET", answer.ShardURL("shard-rs-3")).Body.String()).Text(); strings.Contains(text, "orphaned") {
		t.Error("the page of a shard that has no part in it has it")
	}
	reached := webtest.ParseHTML(t, s.Do("GET", "/activity").Body.String()).Find(".timings tr.reasons").Text()
	if !strings.Contains(reached, "The donor completed 2 of 6 steps.") {
		t.Errorf("%q", reached)
	}
}

func TestTheAPIHasTheReasonOfAFailedMove(t *testing.T) {
	s := withFailures(t)
	want := api.FailureReason{Reason: orphansReason, ReasonFrom: "moveChunk.to", ReasonCode: "orphans"}
	events := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity"))
	for i, e := range events.Items {
		if e.Failed != (e.What != "moveChunk.start") {
			t.Errorf("%d %s failed: %t", i, e.What, e.Failed)
		}
		got := e.FailureReason
		got.Meaning = ""
		switch {
		case e.What == "moveChunk.start" && e.FailureReason != (api.FailureReason{}):
			t.Errorf("%+v", e)
		case e.What != "moveChunk.start" && i < 4 && (got != want || e.Meaning == ""):
			t.Errorf("%+v", e)
		case e.What != "moveChunk.start" && i > 4 &&
			(got != api.FailureReason{ReasonCode: "none"} || !strings.HasPrefix(e.Meaning, "The server gave no reason.")):
			t.Errorf("%+v", e)
		}
	}
	moves := webtest.Decode[api.FoldedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations?state=aborted"))
	if len(moves.Items) != 2 || moves.Items[0].Reason != orphansReason || moves.Items[0].ReasonFrom != "moveChunk.to" ||
		moves.Items[0].ReasonCode != "orphans" ||
		moves.Items[1].ReasonCode != "none" {
		t.Errorf("%+v", moves.Items)
	}
	groups := webtest.Decode[api.FoldedList[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures"))
	if len(groups.Items) != 2 || groups.Items[0].Code != "orphans" || groups.Items[0].Newest != orphansReason ||
		groups.Items[1].Code != "none" ||
		groups.Items[1].Reason != "" {
		t.Errorf("%+v", groups.Items)
	}
}

func TestALongTextIsOneClickAwayWhole(t *testing.T) {
	long := "Cannot move chunk <script>: " + strings.Repeat(
		"{ project_id: ObjectId('6600006126d6cf4c63274108') } and then ",
		12,
	) + "\u202ethe end 1234567"
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = failedAttempt(t, &table, 3, webtest.Epoch.Add(-time.Minute), long)
	s.Watcher.Publish(&table)
	doc := webtest.ParseHTML(t, s.Do("GET", "/activity?failed=1").Body.String())
	d := doc.Find(".events li.failed details.servertext").First()
	short, whole := d.Find("summary code").Text(), d.ChildrenFiltered("code").Text()
	if _, open := d.Attr("open"); open || doc.Find("script:contains('Cannot')").Length() != 0 {
		t.Error("open at first, or markup")
	}
	cut := strings.TrimSuffix(short, " …")
	if cut == short || !strings.HasPrefix(whole, cut) || len(cut) > templates.ServerTextShown ||
		strings.Count(cut, "{") != strings.Count(cut, "}") ||
		strings.Count(cut, "'")%2 != 0 {
		t.Errorf("cut as %q", short)
	}
	if !strings.HasSuffix(whole, `\u{202e}the end 1234567`) {
		t.Errorf("whole is %q", whole)
	}
	if got := webtest.Decode[api.FoldedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations")); got.Items[0].Reason != long {
		t.Errorf("the API has %q", got.Items[0].Reason)
	}
}

func TestAMoveToItsOwnShardIsNotListedAsFailed(t *testing.T) {
	d := webtest.Must(
		bson.Marshal(
			bson.D{{Key: "min", Value: bson.D{{Key: "project_id", Value: 1}}}, {Key: "max", Value: bson.D{{Key: "project_id", Value: 2}}},
				{
					Key:   "step 1 of 6",
					Value: int32(0),
				}, {Key: "to", Value: "shard-rs-2"}, {Key: "from", Value: "shard-rs-2"}, {Key: "note", Value: "aborted"}},
		),
	)
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = []topology.Event{
		{ID: "same", Time: webtest.Epoch.Add(-time.Minute), What: "moveChunk.from", NS: string(webtest.DocumentsNS), Details: d},
	}
	s.Watcher.Publish(&table)
	if n := webtest.ParseHTML(t, s.Do("GET", "/activity?failed=1").Body.String()).Find("li.failed").Length(); n != 0 {
		t.Errorf("%d failed", n)
	}
	if got := webtest.Decode[api.FoldedList[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures")); len(got.Items) != 0 {
		t.Errorf("%+v", got.Items)
	}
	if got := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity")); len(got.Items) != 1 || got.Items[0].Failed {
		t.Errorf("%+v", got.Items)
	}
}

// failureOf is what a run's page shows of a failed step.
func failureOf(t *testing.T, s engine.Step) string {
	t.Helper()
	var b strings.Builder
	step := answer.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{s}}).Steps[0]
	if err := changes.StepFailure(step).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return webtest.ParseHTML(t, b.String()).Text()
}

func TestAStepSaysWhyItsMoveFailed(t *testing.T) {
	table := webtest.CannedTable(1, 250)
	events := failedAttempt(t, table, 3, webtest.Epoch, "")
	slices.Reverse(events)
	s := engine.Step{Step: actions.Step{Op: actions.OpMove, NS: webtest.DocumentsNS, Shard: "shard-rs-2"}, Events: events,
		Error: `The cluster refused to move a chunk: "Data transfer error: migrate failed: Location51008: operation was interrupted".`}
	if got := answer.StepEvents(s); got[1].ReasonCode != "copyStopped" || got[1].ReasonFrom != "run" || got[0].ReasonCode != "" ||
		!got[1].Failed {
		t.Errorf("%+v", got)
	}
	if text := failureOf(t, s); !strings.Contains(text, "Location51008") || !strings.Contains(text, "same _id") {
		t.Error(text)
	}
	split := engine.Step{
		Step:  actions.Step{Op: actions.OpSplitAt, NS: webtest.DocumentsNS},
		Error: `The cluster refused to split: "operation exceeded time limit".`,
	}
	if row := answer.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{split}}).Steps[0]; row.Means != "" {
		t.Errorf("words of a move for a split: %q", row.Means)
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	for i, text := range []string{"", "x", orphansReason, "LockBusy", "ChunkTooBig", "E11000", "Location51008", "stepped down",
		"not authorized", "is not in the correct zone", "is currently draining",
		"undergoing changes and chunks cannot be moved", "no chunk was found", "StaleConfig", "ShardNotFound", "missing indexes",
		"ExceededMemoryLimit", "WriteConcern", "No space left", "HostUnreachable", "timed out", "Interrupted",
		"currently donating chunk"} {
		r := eventReason(text)
		if got := answer.FailureAdvice(r); strings.Contains(got, "[") || (strings.Contains(got, "does not know this reason") != (text == "x")) ||
			len(got) < 20 {
			t.Error(strconv.Itoa(i), text, got)
		}
	}
}

func eventReason(text string) history.Code { return history.CodeOf(text) }
