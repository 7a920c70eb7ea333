package activity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// withFailures is a site whose log has a move that failed with a reason in one of
// its entries, and one without any.
func withFailures(t *testing.T, more ...topology.Event) *webtest.Server {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = slices.Concat(more,
		webtest.FailedAttempt(t, &table, 3, webtest.Epoch.Add(-time.Minute), webtest.OrphansReason),
		webtest.FailedAttempt(t, &table, 5, webtest.Epoch.Add(-10*time.Minute), ""))
	s.Watcher.Publish(&table)
	return s
}

func TestAFailedMoveShowsItsReasonWhereverItIsListed(t *testing.T) {
	s := withFailures(t)
	c := s.Watcher.Get().Collection(webtest.DocumentsNS)
	chunk := answer.ChunkURL(webtest.DocumentsNS, answer.ChunkRef(c, c.Chunks.At(3).Min))
	for page, where := range map[string]string{
		"/": ".events li.failed", "/activity": ".events li.failed", "/activity?failed=1": ".events li.failed",
		"/activity?kind=all": ".events li.failed", "/activity ": ".timings tr.reasons",
		"/activity  ": ".failures tbody tr", answer.CollectionURL(webtest.DocumentsNS): "section li.failed",
		chunk: "section li.failed", answer.ShardURL("shard-rs-2"): "section li.failed",
		answer.ShardURL("shard-rs-1"): "section li.failed",
	} {
		text := s.Page(t, strings.TrimSpace(page)).Find(where).Text()
		expect.ContainsAll(t, text, []string{webtest.OrphansReason, "has not yet deleted its old documents"}, "%s", page)
		expect.That(t, page == chunk || strings.Contains(text, "The server gave no reason."),
			"%s does not say that the other has none: %q", page, text)
	}
	other := answer.ChunkURL(webtest.DocumentsNS, answer.ChunkRef(c, c.Chunks.At(7).Min))
	text := s.Page(t, other).Text()
	expect.That(t, !strings.Contains(text, "orphaned"), "the page of another chunk has it")
	text = s.Page(t, answer.ShardURL(webtest.HostileName)).Text()
	expect.That(t, !strings.Contains(text, "orphaned"), "the page of a shard that has no part in it has it")
	reached := s.Page(t, "/activity").Find(".timings tr.reasons").Text()
	expect.Contains(t, reached, "The donor completed 2 of 6 steps.", "the text")
}

func TestTheAPIHasTheReasonOfAFailedMove(t *testing.T) {
	s := withFailures(t)
	want := api.FailureReason{Reason: webtest.OrphansReason, ReasonFrom: "moveChunk.to", ReasonCode: "orphans"}
	events := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity"))
	for i, e := range events.Items {
		expect.Equal(t, e.Failed, e.What != "moveChunk.start", "%d %s failed", i, e.What)
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
	expect.That(t, len(moves.Items) == 2 && moves.Items[0].Reason == webtest.OrphansReason && moves.Items[0].ReasonFrom == "moveChunk.to" &&
		moves.Items[0].ReasonCode == "orphans" && moves.Items[1].ReasonCode == "none", "%+v", moves.Items)
	groups := webtest.Decode[api.FoldedList[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures"))
	expect.That(t, len(groups.Items) == 2 && groups.Items[0].Code == "orphans" && groups.Items[0].Newest == webtest.OrphansReason &&
		groups.Items[1].Code == "none" && groups.Items[1].Reason == "", "%+v", groups.Items)
	for _, foreign := range []string{"state=done", "state=none", "limit=1", "limit=0"} {
		got := webtest.Decode[api.FoldedList[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures?"+foreign))
		expect.Equal(t, len(got.Items), 2, "%s is no parameter of failures: %+v", foreign, got.Items)
	}
}

func TestLongServerTextIsCutAndCanBeOpened(t *testing.T) {
	long := "Cannot move chunk <script>: " + strings.Repeat(
		"{ project_id: ObjectId('6600006126d6cf4c63274108') } and then ",
		12,
	) + "\u202ethe end 1234567"
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = webtest.FailedAttempt(t, &table, 3, webtest.Epoch.Add(-time.Minute), long)
	s.Watcher.Publish(&table)
	doc := s.Page(t, "/activity?failed=1")
	d := doc.Find(".events li.failed details.servertext").First()
	short, whole := d.Find("summary code").Text(), d.ChildrenFiltered("code").Text()
	_, open := d.Attr("open")
	expect.That(t, !open && doc.Find("script:contains('Cannot')").Length() == 0, "open at first, or markup")
	cut := strings.TrimSuffix(short, " …")
	expect.That(t, cut != short && strings.HasPrefix(whole, cut) && len(cut) <= templates.ServerTextShown &&
		strings.Count(cut, "{") == strings.Count(cut, "}") && strings.Count(cut, "'")%2 == 0, "cut as %q", short)
	expect.That(t, strings.HasSuffix(whole, `\u{202e}the end 1234567`), "whole is %q", whole)
	got := webtest.Decode[api.FoldedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations"))
	expect.Equal(t, got.Items[0].Reason, long, "the API has")
}
