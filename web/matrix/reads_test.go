package matrix_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/web/webtest"
)

// readServer has counted reads of two of the three shards for a time.
func readServer(t *testing.T, during time.Duration) *webtest.Server {
	t.Helper()
	v := webtest.NewStory().View()
	src := webtest.WritesToSeveral(v)
	src.Shards, src.ReadsEach = []string{"shard-rs-1", "shard-rs-2"}, 60
	return webtest.NewHeatServer(t, v, src, during, nil)
}

func TestReadsOfCollectionsAreThoseOfTheServersCounters(t *testing.T) {
	s := readServer(t, 2*time.Minute+5*time.Second)
	counted := map[string]*float64{}
	for _, x := range webtest.Decode[api.List[api.HeatOperations]](t, s.Do("GET", "/api/v1/heat/operations?limit=1000")).Items {
		counted[x.NS+" "+x.Shard] = x.ReadsPerSecond
	}
	doc := s.Page(t, "/matrix?measure=reads")
	sums, seen, unread := map[string]float64{}, 0, 0
	for _, row := range webtest.Decode[api.List[api.MatrixRow]](t, s.Do("GET", "/api/v1/matrix?limit=1000")).Items {
		for _, p := range row.Shards {
			want, has := counted[row.ID+" "+p.Shard]
			got := p.ReadsPerSecond
			switch {
			case want == nil && got.Value == nil && got.Reason == map[bool]string{true: "notReported", false: "notCounted"}[has]:
				unread++
			case want == nil && !has && got.Value != nil && *got.Value == 0: // it has no chunk of a counted collection
			case want == nil || got.Value == nil || *got.Value != *want || !got.Exact || p.ReadMillis == nil || *p.ReadMillis != 5:
				t.Errorf("%s on %s: %+v, counted %v", row.ID, p.Shard, got, want)
			default:
				sums[p.Shard] += *want
				seen++
			}
		}
		cells := doc.Find(`tr[data-key="` + row.ID + `"] td`)
		total := cells.First().AttrOr("title", "")
		expect.That(t, strings.Contains(total, "5.0 ms each") || strings.Contains(total, "only of collections whose writes are counted"),
			"%s: %q", row.ID, total)
	}
	expect.That(t, seen >= 4 && math.Abs(sums["shard-rs-1"]-sums["shard-rs-2"]) <= 1e-9 && sums["shard-rs-3"] == 0,
		"%d cells, sums %v", seen, sums)
	total := doc.Find("tr.total td")
	got := total.Eq(1).Text()
	expect.That(t, strings.Contains(got, "≥\u202f"+format.PerSecond(sums["shard-rs-1"])), "all reads of shard-rs-1 are %q, of %v", got, sums)
	if got := total.Eq(3).Text(); unread == 0 || !strings.HasPrefix(strings.TrimSpace(got), "≥") {
		t.Errorf("reads that were not counted in %d cells are %q", unread, got)
	}
	header, _, _ := strings.Cut(s.Do("GET", "/matrix.csv").Body.String(), "\n")
	columns := strings.Split(strings.TrimSpace(header), ",")
	expect.That(t, slices.Contains(columns, "shards.readsPerSecond.value") && slices.Contains(columns, "shards.readMillis"),
		"CSV has %v", columns)
}

func TestReadsThatWereReadOnceAreUnknown(t *testing.T) {
	cell := readServer(t, 15*time.Second).Page(t, "/matrix?measure=reads").Find(`tr[data-key="yorkie-meta.changes"] td`).First()
	expect.That(t, strings.Contains(cell.Text(), "–") && strings.Contains(cell.AttrOr("title", ""), "not been read twice since"),
		"%q, %q", cell.Text(), cell.AttrOr("title", ""))
}

func TestReadsOfProjectsAreNotOfferedAndSaidToBeUnknown(t *testing.T) {
	s := readServer(t, 2*time.Minute)
	links := s.Page(t, "/matrix?by=projects").Find(`.choices a[href*="measure=reads"]`)
	expect.Equal(t, links.Length(), 0, "offered: %s", links.Text())
	links = s.Page(t, "/matrix?measure=reads").Find(`.choices a[href*="by=projects"][href*="measure=reads"]`)
	expect.Equal(t, links.Length(), 0, "offered by reads of collections: %s", links.Text())
	asked := s.Page(t, "/matrix?by=projects&measure=reads")
	expect.Contains(t, asked.Find("#live-matrix .state").Text(), "Which project reads is not known", "the page")
	expect.Equal(t, asked.Find(`.choices a[href="/matrix?measure=reads"]`).Length(), 1, "no way to the reads of collections")
	for _, row := range webtest.Decode[api.List[api.MatrixRow]](t, s.Do("GET", "/api/v1/matrix?by=projects&limit=1000")).Items {
		for _, p := range row.Shards {
			must.That(t, p.ReadsPerSecond.Value == nil && p.ReadsPerSecond.Reason == "readsByCollection" && p.ReadMillis == nil,
				"%s on %s: %+v", row.Name, p.Shard, p.ReadsPerSecond)
		}
	}
}
