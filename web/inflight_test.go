package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// movingTable is the canned one with one migration of the third chunk.
func movingTable(change ...func(*topology.InFlight)) *topology.Table {
	t := webtest.CannedTable(2, 250)
	to := "shard-rs-2"
	if t.Collection(webtest.DocumentsNS).Chunks.Owner(2) == to {
		to = "shard-rs-1"
	}
	x := webtest.FlightOfChunk(t, webtest.DocumentsNS, 2, to)
	for _, f := range change {
		f(&x)
	}
	t.Moves.List = []topology.InFlight{x}
	return t
}

func pageOf(t *testing.T, s *webtest.Server, path string) string {
	t.Helper()
	w := s.Do("GET", path)
	must.That(t, w.Code == http.StatusOK, "%s: %d %s", path, w.Code, w.Body)
	return w.Body.String()
}

func TestMoveInFlightIsOnEveryPageOfItsSubjects(t *testing.T) {
	s := webtest.New(t)
	table := movingTable()
	s.Watcher.Publish(table)
	x, c := table.Moves.List[0], table.Collection(webtest.DocumentsNS)
	ref := answer.ChunkRef(c, c.Chunks.At(2).Min)
	for _, path := range []string{"/", "/activity", "/collections/yorkie-meta.documents", answer.ChunkURL(webtest.DocumentsNS, ref),
		answer.ShardURL(x.From), answer.ShardURL(x.To)} {
		html := textOf(t, pageOf(t, s, path))
		expect.ContainsAll(t, html, []string{"step 2 of 6", "recipient: step 3 of 7", "mongosh 2.12.0", "of about", "documents copied",
			"about 1 min left", "12 s ago"},
			"%s", path)
	}
	expect.Equal(t, strings.Count(pageOf(t, s, "/collections/yorkie-meta.documents"), "moving to "+x.To), 1,
		"the chunk's row is not marked, or others are")
	// A chunk that does not move and another collection say nothing of it.
	for _, path := range []string{"/collections/yorkie-meta.changes",
		answer.ChunkURL(webtest.DocumentsNS, answer.ChunkRef(c, c.Chunks.At(9).Min))} {
		expect.Lacks(t, pageOf(t, s, path), "mongosh 2.12.0", "%s shows a move that is not its", path)
	}
}

func TestWhenNothingMovesPagesSaySo(t *testing.T) {
	s := webtest.New(t)
	for _, path := range []string{"/", "/activity", "/collections/yorkie-meta.documents", "/shards/shard-rs-1"} {
		expect.Contains(t, pageOf(t, s, path), "Nothing is moving.", "%s", path)
	}
	table := *s.Watcher.Get()
	c := *table.Collection(webtest.DocumentsNS)
	c.Resharding = true
	table.Collections = slices.Clone(table.Collections)
	table.Collections[slices.IndexFunc(table.Collections, func(x *topology.Collection) bool { return x.NS == c.NS })] = &c
	table.Seq++
	s.Watcher.Publish(&table)
	page := pageOf(t, s, "/")
	expect.Contains(t, page, "No chunk is moving.", "while a collection is copied")
	expect.Contains(t, page, "yorkie-meta.documents is being resharded or moved as a whole", "while a collection is copied")
	out := webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight"))
	expect.That(t, out.Items != nil && len(out.Items) == 0 && !out.Stale, "%+v", out)
}

func TestTheAPITellsOfAMoveWhatThePagesTell(t *testing.T) {
	s := webtest.New(t)
	table := movingTable()
	s.Watcher.Publish(table)
	x, c := table.Moves.List[0], table.Collection(webtest.DocumentsNS)
	ref := answer.ChunkRef(c, c.Chunks.At(2).Min)
	check := func(name string, list []api.InFlight) {
		t.Helper()
		must.That(t, len(list) == 1, "%s: %+v", name, list)
		m := list[0]
		if m.NS != string(webtest.DocumentsNS) || m.Ref != ref || m.From != x.From || m.To != x.To || !m.Since.Equal(x.Since) || m.Step != 2 ||
			m.Steps != 6 ||
			m.RecipientStep != 3 || m.By != "client" || m.App != "mongosh 2.12.0" || m.Arrived || *m.Copied.Value != 1200 ||
			*m.Estimate.Value != 8000 || m.Estimate.Exact || *m.Left.Seconds != 70 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	check("inflight", webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight")).Items)
	check("of a collection",
		webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight?ns=yorkie-meta.documents&shard="+x.To)).Items)
	out := webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight?ns=yorkie-meta.changes"))
	expect.Len(t, out.Items, 0, "of another collection")
	check("collection", webtest.Decode[api.CollectionDetail](t, s.Do("GET", "/api/v1/collections/yorkie-meta.documents")).Moving)
	check("donor", webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1"+answer.ShardURL(x.From))).Moving)
	check("recipient", webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1"+answer.ShardURL(x.To))).Moving)
	check("chunk", webtest.Decode[api.ChunkWhy](t, s.Do("GET", "/api/v1/collections/yorkie-meta.documents/chunks/"+ref+"/why")).Moving)
	for i, row := range webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", "/api/v1/collections/yorkie-meta.documents/chunks")).Items {
		expect.Equal(t, row.MovingTo, map[bool]string{true: x.To}[i == 2], "chunk %d moves to", i)
	}
}

func TestWhatIsNotKnownOfAMoveIsSaidInWords(t *testing.T) {
	denied := topology.Figure{Reason: "notPermitted"}
	for name, k := range map[string]struct {
		change func(*topology.InFlight)
		moves  topology.Moves
		want   []string
		not    []string
	}{
		"nothing counted": {change: func(x *topology.InFlight) {
			x.Copied, x.Left = denied, topology.TimeLeft{Reason: "notPermitted"}
		}, want: []string{"copied: not permitted (estimated documents: 8", "time left: not known"}, not: []string{" 0 of about", "about 0 "}},
		"no estimate": {change: func(x *topology.InFlight) {
			x.Estimate, x.Left = topology.Figure{Reason: "notLoaded"}, topology.TimeLeft{Reason: "notLoaded"}
		}, want: []string{"documents copied, total not known", "time left: not known"}},
		"neither": {change: func(x *topology.InFlight) {
			x.Copied, x.Estimate = topology.Figure{Reason: "unreachable"}, topology.Figure{Reason: "notLoaded"}
			x.Left = topology.TimeLeft{Reason: "unreachable"}
		}, want: []string{"copied: ", "time left: not known", "A shard did not answer."}},
		"more than estimated": {change: func(x *topology.InFlight) {
			x.Copied.Value, x.Left = 9000, topology.TimeLeft{Reason: "beyondEstimate"}
		}, want: []string{"more than the estimate of 8", "time left: not known", "More documents were copied than estimated."}},
		"no steps": {change: func(x *topology.InFlight) {
			x.Step, x.Steps, x.RecipientStep, x.RecipientSteps, x.By, x.App = 0, 0, 0, 0, "", ""
		}, want: []string{"step not known", "requested by: not known"}, not: []string{"step 0 of 0"}},
		"steps denied": {change: func(x *topology.InFlight) {
			x.Step, x.Steps, x.RecipientStep, x.RecipientSteps, x.By, x.App = 0, 0, 0, 0, "", ""
		}, moves: topology.Moves{StepsReason: "notPermitted", StepsPrivilege: "inprog on the cluster"},
			want: []string{"step not permitted: needs inprog on the cluster"}},
		"list denied":  {moves: topology.Moves{ListPrivilege: "find on config.migrations"}, want: []string{"it needs find on config.migrations"}},
		"begin unseen": {change: func(x *topology.InFlight) { x.AtLeast = true }, want: []string{"began before it was first seen,"}},
		"balancer":     {change: func(x *topology.InFlight) { x.By, x.App = topology.MoveByBalancer, "" }, want: []string{"the balancer"}},
		"relayed": {change: func(x *topology.InFlight) { x.By, x.App, x.Relayed = "", "", true },
			want: []string{"requested by: not known", "does not tell who asked it"}, not: []string{"the balancer,"}},
		"relayed while the balancer is off": {change: func(x *topology.InFlight) { x.By, x.App, x.Relayed = topology.MoveByClient, "", true },
			want: []string{"requested by: a program"}},
		"hostile": {change: func(x *topology.InFlight) { x.App = webtest.HostileName }, want: []string{"<script>alert(1)</script>"}},
		"gone collection": {change: func(x *topology.InFlight) { x.NS, x.From, x.To = "gone.gone", "no-such-shard", "nor-this" },
			want: []string{"gone.gone", "no-such-shard"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := webtest.New(t)
			table := movingTable()
			if k.change != nil {
				k.change(&table.Moves.List[0])
			}
			table.Moves.ListPrivilege = k.moves.ListPrivilege
			table.Moves.StepsReason, table.Moves.StepsPrivilege = k.moves.StepsReason, k.moves.StepsPrivilege
			s.Watcher.Publish(table)
			page := pageOf(t, s, "/activity")
			html := textOf(t, page)
			expect.Lacks(t, page, "<script>alert", "a script of the cluster")
			expect.ContainsAll(t, html, k.want, "the page")
			expect.LacksAll(t, html, k.not, "the page")
			webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight"))
		})
	}
}

// textOf is a page without its tags, with each run of spaces as one.
func textOf(t *testing.T, html string) string {
	t.Helper()
	doc := must.Get(goquery.NewDocumentFromReader(strings.NewReader(html)))
	titles := ""
	doc.Find("[title]").Each(func(_ int, x *goquery.Selection) { titles += " " + x.AttrOr("title", "") })
	return strings.Join(strings.Fields(doc.Text()+titles), " ")
}

func TestAMoveThatIsCommittedCountsAsArrived(t *testing.T) {
	s := webtest.New(t)
	table := movingTable()
	x := &table.Moves.List[0]
	x.To = table.Collection(webtest.DocumentsNS).Chunks.Owner(2)
	x.From = "shard-rs-1"
	s.Watcher.Publish(table)
	expect.Contains(t, pageOf(t, s, "/activity"), "Moved; the donor is cleaning up", "the activity")
	expect.Lacks(t, pageOf(t, s, "/collections/yorkie-meta.documents"), "moving to ",
		"the chunk counts as on its way")
	out := webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight"))
	expect.That(t, out.Items[0].Arrived, "%+v", out.Items)
}

func TestPagesTellThatMovesCannotBeRead(t *testing.T) {
	s := webtest.New(t)
	table := webtest.CannedTable(2, 250)
	table.Health[topology.PartMoves] = topology.Health{
		Err:       fault.New(fault.Forbidden, "no"),
		Denied:    true,
		Privilege: "find on config.changelog",
	}
	s.Watcher.Publish(table)
	html := pageOf(t, s, "/activity")
	expect.That(t, strings.Contains(html, "find on config.changelog") && !strings.Contains(html, "Nothing is moving."),
		"it is not said, or nothing is said to move")
	w := s.Do("GET", "/api/v1/activity/inflight")
	expect.That(t, w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "find on config.changelog"),
		"%d %s", w.Code, w.Body)
	// A frozen config server: what was known stays, with its age.
	stale := movingTable()
	stale.Health[topology.PartMoves] = topology.Health{
		At:  webtest.Epoch.Add(-time.Minute),
		Err: fault.New(fault.Unavailable, "The cluster does not answer."),
	}
	s.Watcher.Publish(stale)
	html = pageOf(t, s, "/activity")
	expect.ContainsAll(t, html, []string{"The cluster does not answer.", "step 2 of 6"}, "stale moves are not shown as such")
	out := webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight"))
	expect.That(t, out.Stale && len(out.Items) == 1, "%+v", out)
}

func TestMoveOfARunLinksTheRun(t *testing.T) {
	table := movingTable()
	x := table.Moves.List[0]
	asked := 0
	s := webtest.New(t, func(d *site.Deps) {
		d.Past.Runs = func(from, to time.Time) []history.OurRun {
			asked++
			return []history.OurRun{
				{ID: "other", NS: x.NS, Min: x.Max, To: x.To, Start: x.Since},
				{ID: "earlier", NS: x.NS, Min: x.Min, Max: x.Max, To: x.To, Start: x.Since.Add(-time.Hour), End: x.Since.Add(-50 * time.Minute)},
				{ID: "ourrun", NS: x.NS, Min: x.Min, Max: x.Max, To: x.To, Start: x.Since.Add(-time.Second)},
			}
		}
	})
	s.Watcher.Publish(table)
	if html := pageOf(t, s, "/"); !strings.Contains(html, `href="/runs/ourrun"`) || strings.Contains(html, "/runs/earlier") {
		t.Error("the overview does not lead to the run")
	}
	m := webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight")).Items[0]
	expect.That(t, m.By == "run" && m.Run == "ourrun", "%+v", m)
	if asked > 2 { // the activity of the overview asks too
		t.Errorf("the journal was read %d times for one table", asked)
	}
	// The donor of a program without a name looks as that of the balancer.
	s.Watcher.Publish(movingTable(func(x *topology.InFlight) { x.By, x.App = topology.MoveByBalancer, "" }))
	m = webtest.Decode[api.List[api.InFlight]](t, s.Do("GET", "/api/v1/activity/inflight")).Items[0]
	expect.That(t, m.By == "run", "%+v", m)
	asked = 0
	s.Watcher.Publish(webtest.CannedTable(9, 250))
	pageOf(t, s, "/collections/yorkie-meta.documents")
	expect.That(t, asked == 0, "the journal was read %d times while nothing moves", asked)
}

func TestLocateWarnsOfAMoveInFlight(t *testing.T) {
	s := webtest.New(t)
	table := movingTable()
	s.Watcher.Publish(table)
	c := table.Collection(webtest.DocumentsNS)
	at := func(i int) placement.Answer {
		ch := c.Chunks.At(i)
		p := placement.Place{
			NS:      webtest.DocumentsNS,
			Sharded: true,
			Shards:  []string{ch.Shard},
			Exact:   true,
			Pattern: c.Key,
			Key:     ch.Min,
			Min:     ch.Min,
			Max:     ch.Max,
			Exists:  "yes",
			Chunks:  1,
		}
		return placement.Answer{Items: []placement.Item{{Kind: "document", ID: "x", Places: []placement.Place{p}}}}
	}
	for i, moving := range map[int]bool{2: true, 3: false} {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return at(i).Items, nil }
		want := fmt.Sprintf("Moving from %s to %s now", table.Moves.List[0].From, table.Moves.List[0].To)
		html := pageOf(t, s, "/locate?q=x")
		expect.That(t, strings.Contains(html, want) == moving || strings.Contains(want, "<"), "chunk %d: said %v", i, !moving)
		out := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=x"))
		got := out.Items[0].Places[0].Moving
		expect.That(t, (got != nil) == moving && (!moving || got.To == table.Moves.List[0].To && got.Whole), "chunk %d: %+v", i, got)
	}
	// A project's rows are known by the first field of the key only.
	lead := webtest.Must(c.Key.Values(c.Chunks.At(2).Min))[0]
	p := placement.Place{
		NS:      webtest.DocumentsNS,
		Sharded: true,
		Shards:  []string{"shard-rs-1"},
		Pattern: c.Key,
		Exists:  "would-be",
		Match:   []placement.Equal{{Field: c.Key.Fields()[0].Name, Value: lead}},
	}
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) {
		return []placement.Item{{Kind: "project", ID: "x", Places: []placement.Place{p}}}, nil
	}
	out := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?q=x"))
	got := out.Items[0].Places[0].Moving
	expect.That(t, got != nil && !got.Whole, "of a project: %+v", got)
}

func TestOpenBrowsersFollowTheProgressOfAMove(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b := l.Open("t=overview,activity,collection:yorkie-meta.documents,collection:yorkie-meta.changes,shard:shard-rs-1")
		was := map[string]int{}
		count := func() map[string]int {
			n := map[string]int{}
			for _, f := range b.Frames() {
				n[f.Topic]++
			}
			return n
		}
		was = count()
		step := func(change ...func(*topology.InFlight)) map[string]int {
			next := *l.Watcher.Get()
			next.Seq++
			next.Moves = movingTable(change...).Moves
			l.Watcher.Publish(&next)
			time.Sleep(time.Second)
			synctest.Wait()
			is, news := count(), map[string]int{}
			for topic, n := range is {
				if n != was[topic] {
					news[topic] = n - was[topic]
				}
			}
			was = is
			return news
		}
		onShard := func(x *topology.InFlight) { x.From = "shard-rs-1" }
		for name, news := range map[string]map[string]int{"begin": step(onShard),
			"progress": step(onShard, func(x *topology.InFlight) { x.Copied.Value += 100 })} {
			for _, topic := range []string{"overview", "activity", "collection:yorkie-meta.documents", "shard:shard-rs-1"} {
				expect.That(t, news[topic] == 1, "%s: %d frames of %s", name, news[topic], topic)
			}
			expect.Equal(t, news["collection:yorkie-meta.changes"], 0, "%s: another collection's page is told", name)
		}
		same := func(x *topology.InFlight) {
			x.Copied.Value += 100
			x.Copied.At, x.Estimate.At = x.Copied.At.Add(0), x.Estimate.At.Add(-time.Minute)
		}
		news := step(onShard, same)
		expect.Equal(t, len(news), 0, "nothing looks different, and %v are told", news)
		over := *l.Watcher.Get()
		over.Seq, over.Moves = over.Seq+1, topology.Moves{}
		l.Watcher.Publish(&over)
		time.Sleep(time.Second)
		synctest.Wait()
		expect.Equal(t, count()["overview"], was["overview"]+1, "its end is not told")
		expect.Lacks(t, pageOf(t, l.Server, "/activity"), "step 2 of 6", "it is over, and shown")
	})
}

func TestMovesOfThePastAreNotThoseOfNow(t *testing.T) {
	table := movingTable()
	v := answer.View{Table: table, Now: webtest.Epoch, Past: &answer.PastTime{At: webtest.Epoch}}
	c := table.Collection(webtest.DocumentsNS)
	m := logbook.MovingNow(v, table.Moves.List, 10)
	expect.That(t, len(m.Items) == 0 && m.None == "" && logbook.MovingChunks(v, c) == nil &&
		len(logbook.InFlightOf(v, table.Moves.List)) == 0, "%+v", m)
}

func TestTheOverviewShowsTheOldestOfManyMoves(t *testing.T) {
	s := webtest.New(t)
	table := webtest.CannedTable(2, 250)
	for i := range 12 {
		x := webtest.FlightOfChunk(table, webtest.DocumentsNS, i*3, fmt.Sprintf("shard-%d", i))
		x.Since = webtest.Epoch.Add(-time.Duration(30-i) * time.Hour)
		table.Moves.List = append(table.Moves.List, x)
	}
	s.Watcher.Publish(table)
	html := pageOf(t, s, "/")
	expect.That(t, strings.Contains(html, "shard-5") && !strings.Contains(html, "shard-6<") && strings.Contains(html, "and 6 more"),
		"not the first six")
	html = pageOf(t, s, "/activity")
	expect.That(t, strings.Contains(html, "shard-11") && strings.Contains(textOf(t, html), "30 h ago"), "the activity page has not all")
}

// A donor that fails over never logs the end: what is not under way any more is
// not shown as running for ever.
func TestALoggedMoveThatIsNotUnderWayHasNoKnownEnd(t *testing.T) {
	started := func(table *topology.Table, i int, to string, ago time.Duration) {
		x := webtest.FlightOfChunk(table, webtest.DocumentsNS, i, to)
		if to == x.From {
			x.From = "shard-rs-7"
		}
		d := webtest.Must(bson.Marshal(bson.D{{Key: "min", Value: x.Min}, {Key: "max", Value: x.Max},
			{Key: "from", Value: x.From}, {Key: "to", Value: to}}))
		table.Events = append(
			[]topology.Event{
				{
					ID:      fmt.Sprint("start", i),
					Time:    webtest.Epoch.Add(-ago),
					What:    "moveChunk.start",
					NS:      string(webtest.DocumentsNS),
					Shard:   x.From,
					Details: d,
				},
			},
			table.Events...)
	}
	states := func(change func(*topology.Table)) map[string]int {
		s := webtest.New(t)
		table := movingTable()
		started(table, 2, table.Moves.List[0].To, time.Minute)                                    // under way
		started(table, 9, "shard-rs-9", time.Minute)                                              // its donor failed over
		started(table, 12, table.Collection(webtest.DocumentsNS).Chunks.Owner(12), 2*time.Minute) // arrived all the same
		started(table, 15, "shard-rs-9", 5*time.Second)                                           // may be over, and not read yet
		change(table)
		s.Watcher.Publish(table)
		n := map[string]int{}
		for _, m := range webtest.Decode[api.List[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations?limit=1000")).Items {
			if m.Begin.Before(webtest.Epoch.Add(-3*time.Minute)) || m.Min == nil {
				continue
			}
			n[m.State]++
		}
		return n
	}
	n := states(func(*topology.Table) {})
	expect.That(t, n["running"] == 2 && n["unclear"] == 1 && n["done"] == 1, "%v", n)
	stale := func(table *topology.Table) { table.Health[topology.PartMoves] = topology.Health{} }
	n = states(stale)
	expect.Equal(t, n["running"], 4, "where the list is not known: %v", n)
}
