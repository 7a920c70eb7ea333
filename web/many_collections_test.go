package web_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/memory"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// manyCollections is a server of a cluster with so many collections besides Yorkie's: sharded ones of a thousand
// chunks, and others.
func manyCollections(t testing.TB, shards, sharded, others int) *webtest.Server {
	t.Helper()
	story := webtest.NewStory()
	story.Shards = shards
	return webtest.Scene{View: story.With(func(table *topology.Table) {
		var bounds []bson.D
		for k := range int64(999) {
			bounds = append(bounds, bson.D{{Key: "k", Value: k}})
		}
		for i := range sharded {
			story.Add(table, fmt.Sprintf("sharded%03d", i), bson.D{{Key: "k", Value: 1}}, bounds, 1<<30, 1_000_000)
		}
		for i := range others {
			ns := topology.Namespace(fmt.Sprintf("app.plain%05d", i))
			table.Unsharded = append(table.Unsharded, ns)
			table.Sizes[ns] = topology.Sizes{NS: ns, At: webtest.Epoch, Shards: map[string]topology.Size{story.Shard(0): webtest.Size(1<<20, 1000)}}
		}
		table.Databases = append([]topology.Database{{Name: "app", Primary: story.Shard(0)}}, table.Databases...)
	}).View()}.Serve(t)
}

func TestPagesOfManyCollectionsStaySmall(t *testing.T) {
	t.Parallel()
	s := manyCollections(t, 100, 100, 9_900)
	for _, path := range append(everyPage(s), "/collections?page=3", "/shards/shard-rs-2", "/matrix?db=app&page=9") {
		w := s.Do("GET", path)
		expect.That(t, w.Code < 500 && w.Body.Len() <= 250<<10, "%s: %d, %d bytes", path, w.Code, w.Body.Len())
	}
}

// everyPage has an address of each page.
func everyPage(s *webtest.Server) (out []string) {
	for _, rt := range web.Served(s.Deps) {
		if rt.Method == http.MethodGet && rt.Tag == site.TagPages && !strings.Contains(rt.Pattern, ".") && rt.Pattern != "/live" {
			out = append(out, exampleOf(rt))
		}
	}
	return out
}

// What a page of 10,000 collections costs is counted in bytes that are allocated, which no other program changes: what
// all pages need of a table is made once for it. Beside it are Yorkie's collections and 10 of a thousand chunks.
// The prediction of growth is left out: it moves every chunk of the cluster.
func TestPagesOfManyCollectionsCostWhatTheyShow(t *testing.T) {
	few, many := manyCollections(t, 100, 10, 0), manyCollections(t, 100, 100, 9_900)
	pages := []string{"/", "/shards", "/shards/shard-rs-2", "/shards/shard-rs-2/why", "/collections", "/matrix", "/map", "/advice"}
	if !testing.Short() {
		pages = append(pages, everyPage(many)...)
	}
	for _, path := range pages {
		if strings.HasPrefix(path, "/lab/growth") {
			continue
		}
		small, large := allocatedBy(few, path), allocatedBy(many, path)
		t.Logf("%s: %d kB and %d kB, %.1f", path, small>>10, large>>10, float64(large)/float64(small))
		expect.That(t, large <= 3*small, "%s allocates %d bytes with 10,000 collections and %d with 10", path, large, small)
	}
}

// allocatedBy is the least of what some answers allocate, after one that makes what is kept of the table.
func allocatedBy(s *webtest.Server, path string) uint64 {
	s.Do("GET", path)
	least := uint64(math.MaxUint64)
	for range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Do("GET", path)
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// Pages of 10,000 collections beside those of 10, on as many shards, in turns; problems are judged for each. The ratio
// is of the processor's time, which other programs change least.
func BenchmarkPagesOfTenThousandCollections(b *testing.B) {
	few, many := manyCollections(b, 100, 10, 0), manyCollections(b, 100, 100, 9_900)
	for _, path := range []string{"/", "/collections", "/shards", "/shards/shard-rs-2", "/shards/shard-rs-2/why", "/matrix",
		"/map", "/advice"} {
		b.Run(path, func(b *testing.B) {
			get := func(s *webtest.Server) time.Duration {
				begin := processorTime(b)
				if w := s.Do("GET", path); w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
				return processorTime(b) - begin
			}
			get(few) // makes what is kept of the table
			get(many)
			var small, large time.Duration
			n := 0
			for b.Loop() {
				small, large, n = small+get(few), large+get(many), n+1
			}
			b.ReportMetric(float64(small.Microseconds())/float64(n), "few-us/op")
			b.ReportMetric(float64(large.Microseconds())/float64(n), "many-us/op")
			b.ReportMetric(float64(large)/float64(small), "ratio")
		})
	}
}

// processorTime is what this process has taken of the processors.
func processorTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A shard's answer has pages of what is on it, which together have all of it once.
func TestShardOfManyCollectionsIsAnsweredInPages(t *testing.T) {
	t.Parallel()
	s := manyCollections(t, 3, 2, 2_300)
	address, seen := "/api/v1/shards/shard-rs-1", map[string]bool{}
	for _, query := range []string{"", "?limit=1000"} {
		clear(seen)
		for pages, next := 0, query; ; pages++ {
			w := s.Do("GET", address+next)
			expect.That(t, w.Body.Len() <= 600<<10, "%s: %d bytes", next, w.Body.Len())
			page := webtest.Decode[api.ShardDetail](t, w)
			for _, c := range page.Contents {
				must.That(t, !seen[c.NS], "%s is on two pages", c.NS)
				seen[c.NS] = true
			}
			if page.Next == "" {
				break
			}
			want := map[string]int{"": 100, "?limit=1000": 1000}[query]
			expect.That(t, len(page.Contents) == want, "page %d of %q has %d collections", pages, query, len(page.Contents))
			next = "?" + url.Values{"cursor": {string(page.Next)}, "limit": {strings.TrimPrefix(query, "?limit=")}}.Encode()
		}
		for i := range 2_300 {
			must.That(t, seen[fmt.Sprintf("app.plain%05d", i)], "app.plain%05d is on no page", i)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?cursor=x", "?limit=x"} {
		expect.Equal(t, s.Do("GET", address+query).Code, http.StatusBadRequest, "%s", query)
	}
}

// Pages say what was given up, past times are the first to be refused of what they show, and the newest stays.
func TestPagesSayWhatIsGivenUpForMemory(t *testing.T) {
	heap := int64(0)
	guard := memory.NewGuard(memory.Limit{Bytes: 1000 << 20, From: "--memory-limit"}, func() int64 { return heap }, func() {}, time.Now)
	s := webtest.New(t, webtest.WithHistory(t), func(d *site.Deps) { d.Store.Memory = guard })
	past := "/collections?at=" + webtest.Epoch.Add(-30*time.Minute).UTC().Format(time.RFC3339)
	for _, tc := range []struct {
		heap int64
		past int
		says string
	}{{100, http.StatusOK, ""}, {620, http.StatusOK, "no rows are read"}, {700, http.StatusServiceUnavailable, "past times are not shown"},
		{760, http.StatusServiceUnavailable, "pages are slower"}, {900, http.StatusServiceUnavailable, "routing tables do not grow"},
		{100, http.StatusOK, ""}} {
		heap = tc.heap << 20
		expect.Equal(t, s.Do("GET", past).Code, tc.past, "%d MiB: for the past", tc.heap)
		for _, path := range []string{"/collections", "/readyz"} {
			w := s.Do("GET", path)
			text := w.Body.String()
			if w.Code != http.StatusOK || !strings.Contains(text, tc.says) || strings.Contains(text, "Memory is short") != (tc.says != "") {
				t.Errorf("%d MiB: %s: %d %.300s", tc.heap, path, w.Code, text)
			}
		}
	}
}
