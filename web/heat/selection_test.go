package heat_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

const counted = 3*time.Minute + 5*time.Second

// selected is the page with rows of a picture selected for all of its time.
func selected(t *testing.T, s *webtest.Server, m api.HeatMap, rows ...string) *goquery.Selection {
	t.Helper()
	last := m.Columns[len(m.Columns)-1]
	q := url.Values{"ns": {m.NS}, "by": {m.By}, "rows": {strings.Join(rows, ",")},
		"from": {strconv.FormatInt(m.Columns[0].From.UnixMilli(), 10)},
		"to":   {last.From.Add(time.Duration(last.Seconds) * time.Second).Format(time.RFC3339)}}
	return s.Page(t, "/heat?"+q.Encode()).Find("#heat-selection")
}

// rowOf is the row of the picture that holds a chunk.
func rowOf(t *testing.T, m api.HeatMap, chunk int) api.HeatRow {
	t.Helper()
	i := slices.IndexFunc(m.Rows, func(r api.HeatRow) bool { return r.Number == chunk })
	must.That(t, i >= 0, "no row begins at chunk %d", chunk)
	return m.Rows[i]
}

func TestSelectionSaysWhatIsInItAndLeadsToThePlanThatHelps(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, crowded(t, v, webtest.WritesToSeveral(v)), counted, nil)
	m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	hot := webtest.HeatListOf(t, s, "chunks?ns=yorkie-meta.changes").Items
	row := m.Rows[slices.IndexFunc(m.Rows, func(r api.HeatRow) bool { return r.Ref == answer.WithinCollection(hot[0].ID) })]
	got := selected(t, s, m, row.Key)
	text := got.Text()
	for _, want := range []string{"Chunk " + strconv.Itoa(row.Number) + " of " + strconv.Itoa(len(m.Rows)), hot[0].Shard, "writes, ",
		"of all counted in the collection in this time", "One chunk here is hot now", v.Dir.All()[0].Name} {
		expect.Contains(t, text, want, "the selection")
	}
	href := got.Find("a.plan").First().AttrOr("href", "")
	if href != string(hot[0].Plan.URL) && !strings.Contains(href, "kind="+hot[0].Plan.Kind) {
		t.Errorf("leads to %q, want the plan %s", href, hot[0].Plan.Kind)
	} else if w := s.Do("GET", href); w.Code != http.StatusOK {
		t.Errorf("%s: %d", href, w.Code)
	}
	// All rows together have all writes, and one plan for several chunks.
	all := selected(t, s, m, m.Rows[0].Key, m.Rows[len(m.Rows)-1].Key)
	if text := all.Text(); !strings.Contains(text, "100\u202f% of all counted") && !strings.Contains(text, "100 % of all counted") {
		t.Errorf("all rows: %s", text)
	}
}

func TestSelectionOfProjectsNamesThem(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), counted, nil)
	m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map?by=project"))
	one := selected(t, s, m, m.Rows[0].Key)
	expect.Contains(t, one.Find("h2").Text(), m.Rows[0].Name, "the title")
	expect.Equal(t, one.Find(".thirds a").First().AttrOr("href", ""), "/projects/"+m.Rows[0].Project, "where it leads")
	two := selected(t, s, m, m.Rows[0].Key, m.Rows[1].Key)
	expect.Contains(t, two.Find("h2").Text(), "2 projects", "the title")
}

func TestSelectionIsHonestWhenNothingHelps(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), counted, nil)
	m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	written := map[string]bool{}
	for _, l := range webtest.HeatListOf(t, s, "chunks?ns=yorkie-meta.changes&limit=1000").Items {
		written[answer.WithinCollection(l.ID)] = true
	}
	cold := slices.IndexFunc(m.Rows, func(r api.HeatRow) bool { return !written[r.Ref] })
	must.That(t, cold >= 0, "every chunk is written")
	got := selected(t, s, m, m.Rows[cold].Key)
	text := got.Text()
	expect.That(t, strings.Contains(text, "No writes were counted here in this time") &&
		strings.Contains(text, "no plan is needed now") && got.Find("a.plan").Length() == 0, "a chunk without writes: %s", text)
	expect.Contains(t, selected(t, s, m, "gone").Text(), "not in the picture any more", "a row that is gone")
	alone := webtest.NewStory()
	alone.Shards = 1
	one := alone.View()
	s = webtest.NewHeatServer(t, one, webtest.WritesToSeveral(one), counted, nil)
	m = webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	expect.Contains(t, selected(t, s, m, m.Rows[0].Key, m.Rows[len(m.Rows)-1].Key).Text(), "only one shard", "a cluster of one shard")
}

func TestSelectionRefusesWhatItCannotBe(t *testing.T) {
	s := webtest.New(t)
	s.Watcher.Value = webtest.NewStory().View().Table
	for _, query := range []string{"rows=a", "rows=a&from=1", "rows=a&from=2&to=1", "rows=a,b,c&from=1&to=2", "from=1&to=2",
		"rows=a&from=x&to=2", "by=project&from=1&to=2&rows=" + strings.Repeat("a,", 60)} {
		expect.Equal(t, s.Do("GET", "/heat?"+query).Code, http.StatusBadRequest, "%s", query)
	}
}
