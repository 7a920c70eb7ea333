package advice_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/outcome"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestPastProblemsAreListedNewestFirst(t *testing.T) {
	s := webtest.New(t)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{"hot-project.past", "jumbo.past"}},
		{"?rule=jumbo", []string{"jumbo.past"}},
		{"?rule=hot-shard", []string{"hot-project.past"}}, // by what followed from it
		{"?shard=shard-rs-1", []string{"hot-project.past"}},
		{"?from=2026-03-01T11:45:00Z", []string{"jumbo.past"}},
		{"?to=2026-03-01T11:15:00Z", []string{"jumbo.past"}},
		{"?rule=orphans", nil},
	} {
		got := webtest.Decode[api.PastProblems](t, s.Do("GET", "/api/v1/advice/past"+c.query))
		var ids []string
		for _, p := range got.Items {
			ids = append(ids, p.ID)
		}
		expect.Equal(t, strings.Join(ids, " "), strings.Join(c.want, " "), "%s: %v, want %v", c.query, ids, c.want)
	}
	first := webtest.Decode[api.PastProblems](t, s.Do("GET", "/api/v1/advice/past?limit=1"))
	second := webtest.Decode[api.PastProblems](t, s.Do("GET", "/api/v1/advice/past?limit=1&cursor="+string(first.Next)))
	expect.That(t, len(first.Items) == 1 && len(second.Items) == 1 && second.Items[0].ID == "jumbo.past" && second.Next == "",
		"by pages: %+v, %+v", first, second)
	hot := first.Items[0]
	expect.That(t, hot.Seconds == 1200 && hot.Worst == "Share of the writes: 88\u202f%" && len(hot.Consequences) == 1 && hot.Ended != nil,
		"%+v", hot)
	for _, query := range []string{"rule=none", "from=x", "from=2026-03-01T12:00:00Z", "to=2099-01-01T00:00:00Z"} {
		expect.Equal(t, s.Do("GET", "/api/v1/advice/past?"+query).Code, 400, "%s", query)
	}
}

func TestThePageOfPastProblemsLeadsToThatTime(t *testing.T) {
	doc := webtest.ParseHTML(t, webtest.New(t, webtest.WithHistory(t)).Do("GET", "/advice/past").Body.String())
	row := doc.Find("tr[data-key^='hot-project.past']")
	expect.ContainsAll(t, row.Text(), []string{"11:20 UTC to 1 Mar 11:40 UTC, 20 min", "on shard-rs-1, for 20 min.", "With it: Hot shard",
		"88\u202f%"}, "the row")
	for _, want := range []string{"/?at=2026-03-01T11%3A30%3A00Z", "/postmortem?from=2026-03-01T11%3A10%3A00Z&to=2026-03-01T11%3A50%3A00Z"} {
		expect.Equal(t, row.Find("a[href='"+want+"']").Length(), 1, "links to %s", want)
	}
	expect.Contains(t, doc.Find("main").Text(), "Nobody checked from 30 Jan 12:00 UTC to 1 Mar 11:10 UTC: ", "the text")
}

func TestBoundsArePartOfThePastToo(t *testing.T) {
	as := func(role auth.Role) string {
		s := webtest.New(t, func(d *site.Deps) {
			d.Cluster.HideBounds, d.Access.Auth = true, webtest.OnePerson{Who: auth.Principal{ID: "user:1", Name: "anna", Role: role}}
		})
		return s.Do("GET", "/advice/past").Body.String() + s.Do("GET", "/api/v1/advice/past").Body.String() +
			s.Do("GET", "/advice/past.csv").Body.String() + s.Do("GET", "/postmortem").Body.String() + s.Do("GET", "/postmortem.md").Body.String()
	}
	expect.LacksAll(t, as(auth.Viewer), []string{"past-key", "jumbo.past"}, "a viewer reads a bound, or the id that is made of it")
	n := strings.Count(as(auth.Support), "past-key")
	expect.That(t, n >= 5, "support reads it %d times", n)
}

func TestAPastPageNeverSaysNoProblemsWhereNobodyJudged(t *testing.T) {
	then := webtest.CannedPastProblems()
	s := webtest.New(t, webtest.WithHistory(t), func(d *site.Deps) { d.Problems.Past = then })
	at := webtest.Epoch.Add(-5 * time.Minute)
	read := func() api.ProblemSummary {
		return webtest.Decode[api.Cluster](t, s.Do("GET", "/api/v1/cluster?at="+answer.AtText(at))).Problems
	}
	if got := read().Headline; !strings.HasPrefix(got, "Not known which problems there were") {
		t.Error(got)
	}
	then.Failed = fault.New(fault.Unavailable, "The disk is gone.")
	expect.Equal(t, s.Do("GET", "/?at="+answer.AtText(at)).Code, http.StatusServiceUnavailable, "the record cannot be read")
}

func TestAPostmortemHasProblemsRunsAndWhatTheyChanged(t *testing.T) {
	helped := outcome.Outcome{State: outcome.Measured, Verdict: outcome.Helped, Basis: outcome.ByShards,
		Shards: []outcome.ShardChange{{Shard: "shard-rs-1"}}}
	s := webtest.New(t, webtest.WithOutcome(helped), webtest.WithHistory(t))
	got := webtest.Decode[api.Postmortem](t, s.Do("GET", "/api/v1/postmortem?from=2026-03-01T00:00:00Z"))
	must.That(t, len(got.Problems) == 2 && got.Problems[0].ID == "jumbo.past" && len(got.Runs) != 0 && got.NoHistory == "", "%+v", got)
	verdicts := 0
	for i, r := range got.Runs {
		expect.That(t, i <= 0 || !r.StartedAt.Before(*got.Runs[i-1].StartedAt), "the runs are not in order")
		if r.Verdict != "" && len(r.Shards) == 1 {
			verdicts++
		}
	}
	expect.That(t, verdicts != 0, "no run says whether it helped")
	w := s.Do("GET", "/postmortem.md?from=2026-03-01T00:00:00Z")
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/markdown") {
		t.Error(w.Header().Get("Content-Type"))
	}
	for _, want := range []string{"# Post-mortem: 1 Mar 2026 00:00:00 UTC to ", "- **warning**, 1 Mar 11:20 UTC to 1 Mar 11:40 UTC", "88 %",
		"Did it help?", "shard-rs-1 not counted → not counted", "Nobody checked"} {
		expect.That(t, strings.Contains(w.Body.String(), want), "no %q in %s", want, w.Body)
	}
	expect.Equal(t, s.Do("GET", "/postmortem?from=2026-01-01T00:00:00Z").Code, 400, "two months")
}

// The entries that the servers write about one failed move are one line, with its reason.
func TestAFailedMoveIsOneLineOfAPostmortem(t *testing.T) {
	x := webtest.NewPastServer(t)
	table := *x.Watcher.Get()
	end := x.Now.Add(30 * time.Second)
	for i := range 2 { // of two chunks
		end := end.Add(time.Duration(i) * 10 * time.Millisecond)
		table.Events = append(table.Events,
			webtest.MoveEntry(t, &table, 3+i, end, "moveChunk.from", bson.E{Key: "step 1 of 6", Value: int32(2)},
				bson.E{Key: "note", Value: "aborted"}, bson.E{Key: "errmsg", Value: "chunk too big"}),
			webtest.MoveEntry(t, &table, 3+i, end.Add(-20*time.Millisecond), "moveChunk.error"))
	}
	x.Show(x.Now.Add(time.Minute), &table)
	got := webtest.Decode[api.Postmortem](t, x.Do("GET", "/api/v1/postmortem"))
	failed := []string{}
	for _, c := range got.Changes {
		if c.Failed {
			failed = append(failed, fmt.Sprint(c.Count, " ", c.Text))
		}
	}
	if len(failed) != 1 || !strings.HasPrefix(failed[0], "2 failed: ") || !strings.Contains(failed[0], "more documents than may be moved") {
		t.Errorf("two failed moves: %q", failed)
	}
}
