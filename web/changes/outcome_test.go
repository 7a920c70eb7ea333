package changes_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/changes"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// movedSite shows a move that succeeded, with an outcome.
func movedSite(t *testing.T, change ...func(*outcome.Outcome)) *webtest.Server {
	v := webtest.NewStory().View()
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) {
		a := webtest.CannedActions()
		a.RunList = append(a.RunList, webtest.MovedRun(v, a))
		d.Changes.Actions, d.Now = a, func() time.Time { return v.Now }
	}, webtest.WithOutcome(webtest.HelpedOutcome(v), change...))
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s
}

func TestPageAndAPIGiveTheSameAnswerWhetherARunHelped(t *testing.T) {
	for name, sc := range scenesByName(webtest.OutcomeScenes()) {
		if name == "outcome-unread" {
			continue
		}
		s := webtest.New(t, func(d *site.Deps) { d.Now = func() time.Time { return sc.View.Now } }, sc.Change)
		s.Watcher.Value, s.Keeper.Value = sc.View.Table, sc.View.Dir
		page := s.Page(t, sc.Path)
		run := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1"+sc.Path))
		must.That(t, run.Outcome != nil && run.Outcome.Text != "", "%s: the API has no answer", name)
		answer := page.Find(".outcome .verdict").Text()
		expect.That(t, strings.Contains(answer, run.Outcome.Text), "%s: the page says %q, the API %q", name, answer, run.Outcome.Text)
		for _, note := range run.Outcome.Notes {
			expect.Contains(t, page.Find(".outcome").Text(), note.Text, "%s: the page", name)
		}
		rows := page.Find(".outcome table").First().Find("tbody tr[data-key]").Length()
		expect.That(t, rows == len(run.Outcome.Shards), "%s: %d shards on the page, %d in the API", name, rows, len(run.Outcome.Shards))
		expect.That(t, run.Outcome.State != "uncounted" && run.Outcome.State != "tooEarly" ||
			run.Outcome.After.Writes == nil && run.Outcome.ShareDifference == nil,
			"%s: what was not counted has a figure: %+v", name, run.Outcome.After)
		expect.LacksAll(t, page.Find(".outcome, section.cost").Text(), []string{"[outcome.", "[cost.", "{"}, "%s", name)
	}
}

func scenesByName(list []webtest.Scene) map[string]webtest.Scene {
	out := map[string]webtest.Scene{}
	for _, sc := range list {
		out[sc.Name] = sc
	}
	return out
}

func TestEarlyOutcomeTellsWhenItWillBeKnown(t *testing.T) {
	var at time.Time
	s := movedSite(t, func(o *outcome.Outcome) {
		o.State, o.Verdict, o.After = outcome.TooEarly, "", outcome.Side{Span: o.After.Span}
		at = o.KnownAt
	})
	page := s.Page(t, "/runs/"+webtest.RecordID("moved"), webtest.As("vera", auth.Viewer)).
		Find(".outcome")
	if !strings.Contains(page.Text(), format.Clock(at)) || !strings.Contains(page.Find("td").Text(), "not counted yet") {
		t.Error(page.Text())
	}
}

func TestRunIsShownWhenItsOutcomeCannotBeRead(t *testing.T) {
	sc := scenesByName(webtest.OutcomeScenes())["outcome-unread"]
	html := webtest.ParseHTML(t, sc.Open(t))
	if html.Find("#live-run .commands li").Length() == 0 || !strings.Contains(html.Find(".outcome").Text(), "could not be read") {
		t.Error(html.Find("main").Text())
	}
	s := webtest.New(t, sc.Change)
	expect.Equal(t, s.Do("GET", "/api/v1"+sc.Path).Code, 503, "the API")
}

func TestEstimatedAndActualAreSideBySide(t *testing.T) {
	s := movedSite(t)
	id := webtest.RecordID("moved")
	run := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+id, webtest.As("vera", auth.Viewer)))
	must.That(t, run.Cost != nil && run.Cost.Moved == 1 && len(run.Cost.Steps) == 1, "%+v", run.Cost)
	is, est := run.Cost.Actual, run.Cost.Estimated
	expect.That(t, is.Documents.Value != nil && *is.Documents.Value == 8123 && is.Bytes.Value != nil && *is.Bytes.Value == 8_600_000 &&
		is.DurationMillis.Value != nil && *is.DurationMillis.Value == 8000, "actual %+v", is)
	if est.Bytes.Value == nil || run.Cost.Steps[0].Estimated.Bytes.Value == nil ||
		*run.Cost.Steps[0].Estimated.Bytes.Value != *est.Bytes.Value ||
		run.Cost.Steps[0].Estimated.Documents.Value == nil {
		t.Errorf("estimated %+v, of the step %+v", est, run.Cost.Steps[0].Estimated)
	}
	page := s.Page(t, "/runs/"+id, webtest.As("vera", auth.Viewer))
	if text := page.Find("section.cost").Text(); !strings.Contains(text, "8.0") || page.Find("section.cost tbody tr").Length() != 3 {
		t.Error(text)
	}
	expect.ContainsAll(t, page.Find(".commands small.cost").Text(), []string{"Copied", "Estimated"}, "the step")
	list := webtest.Decode[api.List[api.Run]](t, s.Do("GET", "/api/v1/runs",
		webtest.As("vera", auth.Viewer)))
	expect.That(t, list.Items[0].Outcome == nil && list.Items[0].Cost == nil, "a list has outcomes")
}

func TestTheAnswerArrivesLiveWhenItsWindowIsOver(t *testing.T) {
	var stub *webtest.StubOutcomes
	v := webtest.NewStory().View()
	done := webtest.HelpedOutcome(v)
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		id := webtest.RecordID("moved")
		b := l.Open("t=run:" + id)
		time.Sleep(time.Second)
		synctest.Wait()
		stub.Change(done)
		time.Sleep(time.Second)
		synctest.Wait()
		f := b.Last(t)
		expect.That(t, f.Topic == "run:"+id && strings.Contains(f.HTML, "Did it help?") && strings.Contains(f.HTML, "Yes."), "%+v", f)
	}, func(d *site.Deps) {
		a := webtest.CannedActions()
		a.RunList = append(a.RunList, webtest.MovedRun(v, a))
		early := done
		early.State, early.Verdict, early.After = outcome.TooEarly, "", outcome.Side{Span: done.After.Span}
		stub = webtest.NewOutcomes(early)
		d.Changes.Actions, d.Changes.Outcomes = a, stub
	})
}

func TestRunWithoutEffectHasNoOutcome(t *testing.T) {
	v := webtest.NewStory().View()
	for _, name := range []string{"running", "failed", "refused"} {
		s := webtest.New(t, func(d *site.Deps) { d.Now = func() time.Time { return v.Now } })
		s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
		path := "/runs/" + webtest.RecordID(name)
		page := s.Page(t, path)
		expect.Equal(t, page.Find(".outcome").Length(), 0, "%s: %s", name, page.Find(".outcome").Text())
		want := map[bool]string{true: "running", false: "unchanged"}[name == "running"]
		run := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1"+path))
		expect.That(t, run.Outcome != nil && run.Outcome.State == want, "%s: %+v", name, run.Outcome)
	}
}

// failureOf is what a run's page shows of a failed step.
func failureOf(t *testing.T, s engine.Step) string {
	t.Helper()
	var b strings.Builder
	step := changing.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{s}}).Steps[0]
	must.Do(t, changes.StepFailure(step).Render(t.Context(), &b))
	return webtest.ParseHTML(t, b.String()).Text()
}

func TestAStepSaysWhyItsMoveFailed(t *testing.T) {
	table := webtest.CannedTable(1, 250)
	events := webtest.FailedAttempt(t, table, 3, webtest.Epoch, "")
	slices.Reverse(events)
	s := engine.Step{Step: operation.Step{Op: operation.OpMove, NS: webtest.DocumentsNS, Shard: "shard-rs-2"}, Events: events,
		Error: `The cluster refused to move a chunk: "Data transfer error: migrate failed: Location51008: operation was interrupted".`}
	got := changing.StepEvents(s)
	expect.That(t, got[1].ReasonCode == "copyStopped" && got[1].ReasonFrom == "run" && got[0].ReasonCode == "" && got[1].Failed,
		"%+v", got)
	expect.ContainsAll(t, failureOf(t, s), []string{"Location51008", "same _id"}, "the text")
	s.State = engine.Unknown
	if text := failureOf(t, s); strings.Contains(text, "try again") || !strings.Contains(text, "Location51008") {
		t.Errorf("something is to be tried while the outcome is unknown: %s", text)
	}
	split := engine.Step{
		Step:  operation.Step{Op: operation.OpSplitAt, NS: webtest.DocumentsNS},
		Error: `The cluster refused to split: "operation exceeded time limit".`,
	}
	row := changing.RunOf(webtest.NewStory().View(), engine.Run{Steps: []engine.Step{split}}).Steps[0]
	expect.Equal(t, row.Means, "", "words of a move for a split")
}

func TestRunShowsTheServersCountsOfItsMoves(t *testing.T) {
	a := webtest.CannedActions()
	counted := bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}, {Key: "text", Value: "no number"}}
	for i := range a.RunList {
		r := &a.RunList[i]
		if r.ID != webtest.RecordID("running") {
			continue
		}
		r.Steps[0].Events = append(
			r.Steps[0].Events,
			topology.Event{
				ID:    "e2",
				Time:  webtest.Epoch.Add(-40 * time.Second),
				What:  "moveChunk.commit",
				NS:    "yorkie-meta.documents",
				Shard: "shard-rs-1",
				Details: webtest.MustBSON(bson.D{{Key: "from", Value: "shard-rs-1"},
					{Key: "to", Value: webtest.HostileName}, {Key: "counts", Value: counted}}),
			},
			topology.Event{
				ID:      "e3",
				Time:    webtest.Epoch.Add(-30 * time.Second),
				What:    "moveChunk.from",
				Details: webtest.MustBSON(bson.D{{Key: "counts", Value: "seven"}}),
			},
		)
	}
	s := webtest.New(t, webtest.WithActions(a))
	events := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+webtest.RecordID("running"))).Steps[0].Events
	must.That(t, len(events) == 3, "%+v", events)
	commit := events[1]
	if commit.What != "moveChunk.commit" || commit.From != "shard-rs-1" || commit.To != webtest.HostileName || commit.At == nil ||
		!commit.At.Equal(webtest.Epoch.Add(-40*time.Second)) ||
		len(commit.Counts) != 2 || commit.Counts["cloned"] != 7 || commit.Counts["clonedBytes"] != 700 {
		t.Errorf("%+v", commit)
	}
	expect.That(t, events[0].Counts == nil && events[2].Counts == nil, "counts that nobody logged: %+v", events)
	log := s.Page(t, "/runs/"+webtest.RecordID("running")).Find("ol.events").Text()
	expect.Contains(t, log, "cloned 7, clonedBytes 700", "the log of the page")
}

// hotDoc is a Yorkie document and the chunk of changes that its rows go to.
type hotDoc struct {
	id    bson.ObjectID
	chunk int
}

// twoHot are documents of two chunks of one shard, and one of another shard.
func twoHot(f *webtest.BreakableServer) (stays, goes, other hotDoc, to string) {
	f.Helper()
	c := f.Watcher.Table().Collection("yorkie-meta.changes")
	ids, err := f.Client.IDs(f.Context(), "yorkie-meta.documents", nil, bson.RawValue{}, 300)
	f.Must(err)
	seen, by := map[int]bool{}, map[string][]hotDoc{}
	for _, d := range ids {
		k, err := c.Key.Extract(webtest.MustBSON(bson.D{{Key: "doc_id", Value: d.ID}}))
		f.Must(err)
		if i, ch := c.Chunks.Find(k); !seen[i] {
			seen[i] = true
			by[ch.Shard] = append(by[ch.Shard], hotDoc{d.ID, i})
		}
	}
	for from, list := range by {
		for shard := range by {
			if len(list) > 1 && shard != from {
				return list[0], list[1], by[shard][0], shard
			}
		}
	}
	f.Fatalf("no shard has documents in two chunks: %v", by)
	return stays, goes, other, to
}

// write inserts rows of documents each second, so many seconds long.
func write(f *webtest.BreakableServer, seconds int, rates map[hotDoc]int) {
	f.Helper()
	for range seconds {
		for of, n := range rates {
			var rows bson.A
			for i := range n {
				rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())}, {Key: "project_id", Value: of.id},
					{Key: "doc_id", Value: of.id}, {Key: "server_seq", Value: time.Now().UnixNano() + int64(i)}, {Key: "actor_id", Value: of.id}})
			}
			_, err := f.Sim.Command(f.Context(), "yorkie-meta", bson.D{{Key: "insert", Value: "changes"}, {Key: "documents", Value: rows}})
			f.Must(err)
		}
		time.Sleep(time.Second)
	}
}

// A move of a hot chunk on a simulated cluster is measured by the real counter before and after.
func TestAMoveOfAHotChunkIsMeasuredBeforeAndAfter(t *testing.T) {
	only.Long(t, "simulates 25 minutes")
	near := func(got, want float64) bool { return got > want-.02 && got < want+.02 }
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 15, Documents: 300, Still: true}, func(f *webtest.BreakableServer) {
		counter := heat.NewCollector(f.Client, f.Watcher, profile.Yorkie(), heat.Options{Seed: 3})
		hot := outcome.New(outcome.Options{Runs: f.Engine, Tables: f.Watcher, Profile: profile.Yorkie(), Store: store.Store(f.DB)})
		counter.OnSlot(hot.Take)
		ctx, end := context.WithCancel(context.Background())
		var parts sync.WaitGroup
		parts.Go(func() { _ = counter.Run(ctx) })
		parts.Go(func() { _ = hot.Run(ctx) })
		defer func() { end(); parts.Wait() }()
		f.Server = webtest.New(f.T, webtest.WithPeople, webtest.WithActions(f.Engine), f.Wired, func(d *site.Deps) { d.Changes.Outcomes = hot })
		runNow := func(id string) api.Run {
			return webtest.Decode[api.Run](f.T, f.Do("GET", "/api/v1/runs/"+id, webtest.As("vera", auth.Viewer)))
		}

		stays, goes, other, to := twoHot(f)
		load := map[hotDoc]int{stays: 2, goes: 2, other: 1}
		write(f, 11*60, load)
		c := f.Watcher.Table().Collection("yorkie-meta.changes")
		p := f.Plan("anna", `{"kind":"move","args":{"ns":"yorkie-meta.changes","chunk":"`+
			answer.ChunkRef(c, c.Chunks.At(goes.chunk).Min)+`","to":"`+to+`"},"reason":"hot"}`)
		w := f.Post("anna", "/api/v1/plans/"+p.ID+"/run", hashOf(p))
		var run api.Run
		must.That(f, json.Unmarshal(w.Body.Bytes(), &run) == nil && w.Code == http.StatusAccepted, "%d %s", w.Code, w.Body)
		run = f.Ended(run.ID)
		must.That(f, run.State == "succeeded", "the move: %s %s", run.State, run.Why)
		told, stop := hot.Subscribe()
		defer stop()
		if o := run.Outcome; o == nil || o.State != "tooEarly" || o.KnownAt == nil || o.Verdict != "" || o.After.Writes != nil ||
			!near(*o.Before.HottestShare, .8) {
			f.Fatalf("just after the run: %+v", o)
		}
		write(f, int(time.Until(*run.Outcome.KnownAt).Seconds()), load)
		if o := runNow(run.ID).Outcome; o.State != "soFar" || o.Verdict != "helped" || len(told) == 0 {
			f.Errorf("%s before its time: %+v", o.State, o)
		}
		<-told
		time.Sleep(15 * time.Second)
		expect.That(f, len(told) != 0, "nobody was told")
		is := runNow(run.ID)
		o := is.Outcome
		must.That(f, o.State == "measured" && o.Verdict == "helped" && near(*o.Before.HottestShare, .8) && near(*o.After.HottestShare, .6) &&
			o.After.Hottest == to && o.Before.CoveredSeconds == 600 && o.After.CoveredSeconds == 600 && len(o.Notes) == 0,
			"%s, %s: %s; before %+v, after %+v", o.State, o.Verdict, o.Text, o.Before, o.After)
		// The figures are those that were written: five rows a second.
		rows := o.Before.Writes.Rows
		expect.That(f, rows >= 2950 && rows <= 3050 && o.Before.Writes.Exact, "before: %+v", o.Before.Writes)
		i := slices.IndexFunc(o.Chunks, func(c api.OutcomeChunk) bool { return c.ShardAfter == to && c.Before != nil })
		if i < 0 || !near(o.Chunks[i].Before.WritesPerSecond, 2) || !near(o.Chunks[i].After.WritesPerSecond, 2) || o.Chunks[i].ShardBefore == to {
			f.Errorf("chunks %+v", o.Chunks)
		}
		if c := is.Cost; c == nil || c.Moved != 1 || c.Actual.Documents.Value == nil || *c.Actual.Documents.Value == 0 ||
			c.Actual.Bytes.Value == nil || c.Estimated.Bytes.Value == nil {
			f.Errorf("cost %+v", c)
		}
	})
}
