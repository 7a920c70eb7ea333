package heat_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// moved is a changelog entry of a chunk's move to its present owner.
func moved(v *topology.Table, id string, at time.Time, chunk int, from, to string) topology.Event {
	c := v.Collection(webtest.ChangesNS)
	ch := c.Chunks.At(chunk)
	minimum, _ := c.Key.Document(ch.Min)
	maximum, _ := c.Key.Document(ch.Max)
	return topology.Event{ID: id, Time: at, What: "moveChunk.commit", NS: string(webtest.ChangesNS),
		Details: webtest.MustBSON(bson.D{
			{Key: "min", Value: minimum}, {Key: "max", Value: maximum}, {Key: "from", Value: from}, {Key: "to", Value: to},
		})}
}

// bubble is when the clock of a heat server begins.
var bubble = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestHeatMapKnowsTheOwnersOfThatTime(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		owner := t.Collection(webtest.ChangesNS).Chunks.Owner
		t.Events = []topology.Event{ // newest first
			moved(t, "d", bubble.Add(150*time.Second), 2, "shard-rs-1", "not-its-owner"),
			moved(t, "c", bubble.Add(140*time.Second), 1, "shard-rs-2", owner(1)),
			moved(t, "b", bubble.Add(90*time.Second), 1, "shard-rs-3", "shard-rs-2"),
			{ID: "a", Time: bubble.Add(30 * time.Second), What: "shardCollection.end", NS: string(webtest.ChangesNS)},
		}
	}).View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	expect.That(t, m.OwnersSince != nil && m.OwnersSince.Equal(bubble.Add(30*time.Second)), "owners are known since %v", m.OwnersSince)
	was := rowOf(t, m, 2).Was
	if len(was) != 2 || was[0].Shard != "shard-rs-2" || was[1].Shard != "shard-rs-3" || !was[1].Until.Equal(bubble.Add(90*time.Second)) {
		t.Errorf("the chunk that moved twice was owned by %+v", was)
	}
	was = rowOf(t, m, 3).Was
	expect.That(t, len(was) == 1 && was[0].Shard == "", "a move that does not lead to the present owner gives %+v, want unknown", was)
	was = rowOf(t, m, 1).Was
	expect.That(t, was == nil, "a chunk that did not move was owned by %+v", was)
}

func TestManyMarksOfAKindBecomeOne(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Events = nil
		for i := range 900 {
			t.Events = append(t.Events, topology.Event{Time: bubble.Add(170*time.Second - time.Duration(i)*100*time.Millisecond), What: "merge",
				NS: string(webtest.ChangesNS)})
		}
	}).View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	marks := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map")).Marks
	sum := 0
	for _, k := range marks {
		sum += k.Count
	}
	expect.That(t, len(marks) <= 31 && sum == 900, "%d marks of %d merges", len(marks), sum)
	expect.That(t, strings.HasSuffix(marks[0].Text, " merges") && marks[0].To != nil, "a group is %+v", marks[0])
	// The newest ones can be divided by who looks closer, as many as are not too much.
	parts := 0
	for i, k := range marks {
		if n := len(k.Parts); n != 0 && n != k.Count || n == 0 && i == len(marks)-1 && k.Count > 1 {
			t.Errorf("mark %d of %d has %d parts", i, k.Count, n)
		} else if n > 0 && (!k.Parts[0].At.Equal(k.At) || !k.Parts[n-1].At.Equal(*k.To) || k.Parts[0].Text != "Merged 0 chunks") {
			t.Errorf("the parts of mark %d: %+v", i, k.Parts)
		} else {
			parts += n
		}
	}
	expect.That(t, parts >= 400 && parts <= 600, "%d parts, want at most 600 and most of those", parts)
}

func TestPictureSaysHowMuchIsRecorded(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	doc := s.Page(t, "/heat?span=24h")
	expect.ContainsAll(t, doc.Find("#heat-fit").Text(), []string{"last 3 min", "not recorded"}, "three minutes of a day")
	// Without script there is a small picture of the same time.
	d := doc.Find("noscript").Text()
	expect.That(t, strings.Contains(d, `class="smallheat"`) && strings.Contains(d, `class="h7"`), "the picture without script: %.300s", d)
}

func TestRunsAndAlertsAreMarked(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	stub := webtest.CannedActions()
	run := stub.RunList[0]
	run.Started, run.Ended, run.Args.NS = bubble.Add(80*time.Second), bubble.Add(95*time.Second), webtest.ChangesNS
	other := run
	other.ID, other.Args.NS, other.Steps = "other", "yorkie-meta.documents", nil
	stub.RunList = []engine.Run{run, other}
	fired := alert.Alert{Notice: alert.Notice{Title: "Disk of shard-rs-1 is nearly full"}, Fired: bubble.Add(2 * time.Minute)}
	quiet := alert.Alert{Notice: alert.Notice{Title: "not sent yet"}}
	from := writes.HeatSource{Pictures: s.Deps.Measured.Pictures, Events: writes.HeatEvents{Runs: stub,
		Alerts: func() alert.Status { return alert.Status{Alerts: []alert.Alert{fired, quiet}} }}}
	v.Now = s.Deps.Now()
	m, err := writes.HeatMap(t.Context(), v, from, writes.HeatMapQuery{NS: webtest.ChangesNS, By: "key", From: bubble, To: v.Now})
	must.That(t, err == nil && len(m.Marks) == 2, "%v: %+v", err, m.Marks)
	k := m.Marks[0]
	expect.That(t, k.Kind == "run" && string(k.URL) == "/runs/"+run.ID && k.To != nil && k.To.Equal(run.Ended), "the run is %+v", k)
	k = m.Marks[1]
	expect.That(t, k.Kind == "alert" && k.URL == "/alerts" && strings.Contains(k.Text, fired.Title), "the alert is %+v", k)
	was := from.Events.Version(t.Context())
	stub.RunList[0].Seq++
	expect.That(t, from.Events.Version(t.Context()) != was, "a changed run does not change the version of the picture")
}
