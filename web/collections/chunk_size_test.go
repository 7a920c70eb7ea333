package collections_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/chunksize"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

const sizedNS = "yorkie-meta.documents"

// measuredCluster has 10 documents more in each chunk, of 1,000 bytes, and in
// chunk 3 more than a shard moves at once.
type measuredCluster struct {
	s     *webtest.Server
	asked int
	err   error
}

func (m *measuredCluster) RangeSize(_ context.Context, meta topology.Meta, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	m.asked++
	if m.err != nil {
		return topology.RangeSize{}, m.err
	}
	i, _ := m.s.Watcher.Get().Collection(meta.NS).Chunks.Find(r.Min)
	n := int64(i) * 10
	if i == 3 {
		n = 200_000
	}
	out := topology.RangeSize{
		Documents: n,
		Bytes:     n * 1000,
		Mean:      1000,
		Exact:     exact,
		At:        webtest.Epoch.Add(-time.Minute),
		Took:      23 * time.Millisecond,
	}
	if exact {
		out.Bytes, out.Mean = n*1000+n/5, 0
	}
	return out, nil
}

// sizedSite has a book of sizes; its documents have chunks on two shards.
func sizedSite(t testing.TB, change ...func(*site.Deps)) (*webtest.Server, *measuredCluster) {
	t.Helper()
	cluster := &measuredCluster{}
	s := webtest.New(t, append([]func(*site.Deps){func(d *site.Deps) {
		d.Measured.Sizes = chunksize.New(cluster, d.Cluster.Watcher, nil)
	}}, change...)...)
	cluster.s = s
	return s, cluster
}

func refOf(s *webtest.Server, i int) string {
	c := s.Watcher.Get().Collection(sizedNS)
	return answer.ChunkRef(c, c.Chunks.At(i).Min)
}

func (m *measuredCluster) measure(t testing.TB, exact bool, positions ...int) {
	t.Helper()
	for _, i := range positions {
		body := strings.NewReader(fmt.Sprintf(`{"exact":%t}`, exact))
		w := m.s.Do("POST", "/api/v1/collections/"+sizedNS+"/chunks/"+refOf(m.s, i)+"/size", func(r *http.Request) {
			*r = *httptest.NewRequest("POST", r.URL.String(), body)
			r.Host = "localhost:8090"
			r.Header.Set("Content-Type", "application/json")
		})
		must.That(t, w.Code == http.StatusOK, "measure chunk %d: %d %s", i, w.Code, w.Body)
	}
}

func chunkList(t *testing.T, s *webtest.Server, query string) api.ChunkList {
	t.Helper()
	return webtest.Decode[api.ChunkList](t, s.Do("GET", "/api/v1/collections/"+sizedNS+"/chunks?"+query))
}

func TestChunkIsMeasuredOnRequest(t *testing.T) {
	s, cluster := sizedSite(t)
	path := "/collections/" + sizedNS + "/chunks/" + refOf(s, 4)
	before := webtest.Decode[api.ChunkSize](t, s.Do("GET", "/api/v1"+path+"/size"))
	expect.That(t, !before.Measured && before.Documents.Method == "chunkShare" && before.MeasuredAt == nil && cluster.asked == 0,
		"before: %+v, %d commands", before, cluster.asked)
	cluster.measure(t, false, 4)
	got := webtest.Decode[api.ChunkSize](t, s.Do("GET", "/api/v1"+path+"/size"))
	expect.That(t, got.Measured && *got.Documents.Value == 40 && !got.Documents.Exact && got.Documents.Method == "dataSizeEstimate" &&
		*got.MeanBytes == 1000 && *got.TookMillis == 23, "estimated: %+v", got)
	m := got.Move
	expect.That(t, m.Verdict == "fits" && *m.LimitDocuments == 2*(64<<20/1000) && m.Release == "5.0.7", "move: %+v", m)
	cluster.measure(t, true, 4)
	got = webtest.Decode[api.ChunkSize](t, s.Do("GET", "/api/v1"+path+"/size"))
	expect.That(t, *got.Bytes.Value == 40_008 && got.Bytes.Exact && got.Bytes.Method == "dataSize", "exact: %+v", got)
	why := webtest.Decode[api.ChunkWhy](t, s.Do("GET", "/api/v1"+path+"/why"))
	expect.That(t, why.Size != nil && *why.Size.Bytes.Value == 40_008, "why: %+v", why.Size)
	expect.Equal(t, cluster.asked, 2, "commands")
}

func TestTheButtonOfAChunksPageMeasuresIt(t *testing.T) {
	s, cluster := sizedSite(t)
	c := s.Watcher.Get().Collection(sizedNS)
	path := answer.ChunkURL(c.NS, refOf(s, 3))
	page := s.Do("GET", path)
	tag := page.Header().Get("ETag")
	expect.ContainsAll(t, page.Body.String(), []string{"Measure exactly", "not measured yet"}, "the page offers no measurement")
	post := func(exact string) int {
		w := s.Do("POST", path+"/size", formSent(url.Values{"exact": {exact}}))
		expect.That(t, w.Code != http.StatusSeeOther || w.Header().Get("Location") == path, "leads to %s", w.Header().Get("Location"))
		return w.Code
	}
	for _, exact := range []string{"false", "true"} {
		code := post(exact)
		must.That(t, code == http.StatusSeeOther, "%s: %d", exact, code)
	}
	body := s.Do("GET", path, webtest.Header("If-None-Match", tag))
	must.That(t, body.Code == http.StatusOK, "after measuring, the page is said to be the same: %d", body.Code)
	text := webtest.ParseHTML(t, body.Body.String()).Text()
	expect.ContainsAll(t, strings.ReplaceAll(text, "\u202f", " "), []string{"200 000", "exact", "No. It has 200 000 documents"}, "the page")
	expect.Equal(t, post("everything"), http.StatusBadRequest, "an unknown button")
	cluster.err = fault.Wrap(fault.Unavailable, context.DeadlineExceeded, "too slow")
	code := func() int {
		return s.Do("POST", answer.ChunkURL(c.NS, refOf(s, 5))+"/size", formSent(url.Values{"exact": {"true"}})).Code
	}()
	expect.Equal(t, code, http.StatusSeeOther, "a failed attempt")
	text = s.Do("GET", answer.ChunkURL(c.NS, refOf(s, 5))).Body.String()
	expect.That(t, strings.Contains(text, topology.ReasonText("tooSlow")), "the page does not say why nothing was measured")
	failed := webtest.Decode[api.ChunkSize](t, s.Do("GET", "/api/v1"+answer.ChunkURL(c.NS, refOf(s, 5))+"/size"))
	expect.That(t, failed.Failed != nil && failed.Failed.Reason == "tooSlow" && !failed.Measured, "%+v", failed)
}

func formSent(v url.Values) func(*http.Request) {
	return func(r *http.Request) {
		*r = *httptest.NewRequest("POST", r.URL.String(), strings.NewReader(v.Encode()))
		r.Host = "localhost:8090"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
}

func TestMeasuringHasItsRoleAndItsLimit(t *testing.T) {
	s, cluster := sizedSite(t, func(d *site.Deps) {
		d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "v", Name: "v", Role: auth.Viewer, Method: auth.ByPassword}}
	})
	path := "/collections/" + sizedNS + "/chunks/" + refOf(s, 3)
	for _, target := range []string{path + "/size", "/api/v1" + path + "/size"} {
		w := s.Do("POST", target, formSent(url.Values{"exact": {"true"}}))
		expect.Equal(t, w.Code, http.StatusForbidden, "a viewer may POST %s", target)
	}
	body := s.Do("GET", path).Body.String()
	expect.That(t, !strings.Contains(body, `name="exact"`) &&
		strings.Contains(body, auth.Operator.Label()), "a viewer sees the button, or not why there is none")
	expect.Equal(t, cluster.asked, 0, "commands")
	s, cluster = sizedSite(t)
	for i := range chunksize.DemandPerMinute {
		cluster.measure(t, false, i)
	}
	path = "/collections/" + sizedNS + "/chunks/" + refOf(s, 100)
	w := s.Do("POST", path+"/size", formSent(url.Values{"exact": {"true"}}))
	expect.Equal(t, w.Code, http.StatusServiceUnavailable, "one more than the limit")
	for _, x := range []struct {
		target, body string
		want         int
	}{
		{"/api/v1/collections/" + sizedNS + "/chunks/" + refOf(s, 100) + "/size", `{"exact":1}`, http.StatusBadRequest},
		{"/api/v1/collections/" + sizedNS + "/chunks/nonsense/size", `{}`, http.StatusBadRequest},
		{"/api/v1/collections/none.such/chunks/" + refOf(s, 100) + "/size", `{}`, http.StatusNotFound},
	} {
		w := s.Do("POST", x.target, func(r *http.Request) {
			*r = *httptest.NewRequest("POST", r.URL.String(), strings.NewReader(x.body))
			r.Host = "localhost:8090"
			r.Header.Set("Content-Type", "application/json")
		})
		expect.Equal(t, w.Code, x.want, "%s", x.target)
	}
}

func TestChunksAreSortedByWhatIsKnown(t *testing.T) {
	s, cluster := sizedSite(t)
	c := s.Watcher.Get().Collection(sizedNS)
	cluster.measure(t, false, 3, 9, 200, 0)
	got := chunkList(t, s, "sort=bytes&limit=1000")
	must.That(t, got.Measured == 4 && got.Of == 250 && got.Order == "bytes" && len(got.Items) == 250 && got.Next == "",
		"%d of %d measured, %d rows", got.Measured, got.Of, len(got.Items))
	for i, want := range []int{3, 200, 9} {
		expect.That(t, got.Items[i].Ref == refOf(s, want) && got.Items[i].Measured, "row %d is %s", i, got.Items[i].Ref)
	}
	seen, last := map[string]bool{}, int64(1<<62)
	for i, row := range got.Items {
		value := int64(-1)
		if row.Bytes.Value != nil {
			value = *row.Bytes.Value
		}
		expect.That(t, value <= last, "row %d has %d after %d", i, value, last)
		seen[row.Ref], last = true, value
	}
	expect.Equal(t, len(seen), 250, "different chunks")
	// Pages make up the same list, also through filters, on the page as in the API.
	for _, filter := range []string{"", "shard=shard-rs-2", "zone=eu", "oversized=false", "jumbo=false&shard=shard-rs-1"} {
		whole := chunkList(t, s, "sort=documents&limit=1000&"+filter)
		var refs []string
		cursor := ""
		for {
			page := chunkList(t, s, "sort=documents&limit=7&"+filter+"&cursor="+cursor)
			for _, row := range page.Items {
				refs = append(refs, row.Ref)
			}
			if page.Next == "" {
				break
			}
			cursor = string(page.Next)
		}
		var want []string
		for _, row := range whole.Items {
			want = append(want, row.Ref)
		}
		expect.That(t, slices.Equal(refs, want) && len(want) != 0,
			"%q: the pages have %d rows in another order than the whole list of %d", filter, len(refs), len(want))
	}
	doc := s.Page(t, "/collections/"+sizedNS+"?sort=bytes")
	first := doc.Find("table.chunks tbody tr").First()
	if first.AttrOr("data-key", "") != answer.ChunkKey(c.Key, c.Chunks.At(3).Min) || !strings.Contains(first.Text(), "too big to move") {
		t.Errorf("the page's first row is %s", first.Text())
	}
	note := doc.Find("[data-key=measured]").Text()
	expect.That(t, strings.HasPrefix(note, "Chunks measured: 4 of 250. The others"), "the page says %q", note)
	head := doc.Find(`th[aria-sort="descending"]`).Text()
	expect.Equal(t, strings.TrimSpace(head), "Data", "sorted by %q", head)
}

func TestTooBigToMoveIsAFilter(t *testing.T) {
	s, cluster := sizedSite(t)
	cluster.measure(t, false, 3, 9)
	if got := chunkList(t, s, "oversized=true"); len(got.Items) != 1 || got.Items[0].Ref != refOf(s, 3) || !*got.Items[0].Oversized {
		t.Errorf("%+v", got.Items)
	}
	doc := s.Page(t, "/collections/"+sizedNS+"?oversized=1")
	expect.Equal(t, doc.Find("table.chunks tbody tr").Length(), 1, "rows")
	// A whole shard, by its counts.
	table := *s.Watcher.Get()
	table.Seq++
	figure := topology.Figure{Known: true, Value: 1 << 40, Method: "collStats", At: webtest.Epoch}
	table.Sizes = map[topology.Namespace]topology.Sizes{
		sizedNS: {
			NS: sizedNS,
			At: webtest.Epoch,
			Shards: map[string]topology.Size{
				"shard-rs-1": {Bytes: figure, Documents: topology.Figure{Known: true, Value: 1 << 30, At: webtest.Epoch}},
			},
		},
	}
	s.Watcher.Publish(&table)
	got := chunkList(t, s, "oversized=true&limit=1000")
	n := table.Collection(sizedNS).Chunks.CountByShard()["shard-rs-1"]
	expect.That(t, len(got.Items) >= n-2 && len(got.Items) <= n+1, "%d chunks of a shard of %d", len(got.Items), n)
}

func TestInvalidSortOrdersAreRefused(t *testing.T) {
	s, _ := sizedSite(t)
	for _, query := range []string{"sort=size", "sort=bytes&cursor=xx", "sort=bytes&cursor=" + string(answer.CursorOf("heat 5")),
		"sort=bytes&cursor=" + string(answer.CursorOf("bytes -5")), "oversized=perhaps",
		"sort=bytes&key=%7B%22project_id%22%3A1%7D"} {
		expect.Equal(t, s.Do("GET", "/api/v1/collections/"+sizedNS+"/chunks?"+query).Code, http.StatusBadRequest, "%s", query)
	}
	expect.Equal(t, s.Do("GET", "/collections/"+sizedNS+"?sort=size").Code, http.StatusBadRequest, "the page")
	got := chunkList(t, s, "sort=bytes&cursor="+string(answer.CursorOf("bytes 99999")))
	expect.That(t, len(got.Items) == 0 && got.Next == "", "beyond the end: %d rows", len(got.Items))
}

func TestChunksAreSortedByTheirWrites(t *testing.T) {
	v := webtest.NewStory().View()
	c := v.Table.Collection("yorkie-meta.changes")
	v.Writes = func(*topology.Table, topology.Namespace) (map[int]heat.Rate, bool, bool) {
		return map[int]heat.Rate{5: {PerSecond: 2, Exact: true, Rows: 20}, 11: {PerSecond: 30, Rows: 300}}, true, false
	}
	m, err := data.ChunkPage(v, c, data.ChunkQuery{Sort: data.ByHeat, Pos: -1})
	must.Do(t, err)
	writes := func(i int) string { return format.PerSecond(*m.Items[i].WritesPerSecond) }
	var order []int
	for _, row := range m.Items[:4] {
		order = append(order, row.Number)
	}
	if !slices.Equal(order, []int{12, 6, 1, 2}) || writes(0) != "30.0" || m.Items[0].WritesExact || writes(1) != "2.00" || writes(2) != "0" {
		t.Errorf("%v %+v", order, m.Items[:3])
	}
	expect.That(t, strings.HasPrefix(m.Note.String(), "Chunks that took writes in the last 5 min: 2 of 24"), "%v", m.Note)
	v.Writes = nil
	m, err = data.ChunkPage(v, c, data.ChunkQuery{Sort: data.ByHeat, Pos: -1})
	expect.That(t, err == nil && !m.Heated && strings.HasPrefix(m.Note.String(), "No writes") && m.Items[0].Number == 1,
		"without counts: %v %q", err, m.Note.String())
}
