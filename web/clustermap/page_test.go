package clustermap_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestThePageDoesNotGrowWithTheChunks(t *testing.T) {
	sizes := map[int]int{}
	large := 100_000
	if !testing.Short() {
		large = 1_000_000
	}
	for _, n := range []int{1000, large} {
		for _, path := range []string{"/map", "/map?ns=yorkie-meta.changes", "/"} {
			sizes[n] += webtest.ParseHTML(t, withChunks(t, n).Do("GET", path).Body.String()).Find("*").Length()
		}
	}
	if small, many := sizes[1000], sizes[large]; small == 0 || float64(many) > 1.05*float64(small) {
		t.Errorf("%d elements of %d chunks and %d of 1000, at most 1.05 times as many", many, large, small)
	}
}

func TestTheHeadlineSaysWhatIsUnusual(t *testing.T) {
	s := webtest.New(t)
	headline := func() string {
		return s.Page(t, "/map").Find("main h1").Text()
	}
	// Every third stretch of the canned collections is on another shard than the zone's.
	if got := headline(); !strings.Contains(got, "on 3 shards: 2 chunks are outside") && !strings.Contains(got, "jumbo") {
		t.Errorf("headline %q, want what is outside its zone or jumbo", got)
	}
	table := *s.Watcher.Value
	moving := table
	moving.Moves.List = []topology.InFlight{webtest.FlightOfChunk(&moving, webtest.DocumentsNS, 0, "shard-rs-2")}
	moving.Health = maps.Clone(moving.Health)
	moving.Health[topology.PartMoves] = topology.Health{At: webtest.Epoch, Err: errors.New("timeout")}
	s.Watcher.Publish(&moving)
	if got := headline(); strings.Contains(got, "is moving") || strings.Contains(got, "none") {
		t.Errorf("headline %q of moves that could not be read", got)
	}
	table.Collections = nil
	s.Watcher.Publish(&table)
	got := headline()
	expect.That(t, strings.HasPrefix(got, "No collection is sharded"), "headline %q without a sharded collection", got)
	unread := table
	unread.Unsharded = nil
	unread.Health = map[topology.Part]topology.Health{topology.PartRouting: {Err: errors.New("the cluster does not answer")}}
	s.Watcher.Publish(&unread)
	got = headline()
	expect.That(t, strings.HasPrefix(got, "The collections could not be read"), "headline %q when the collections could not be read", got)
	text := s.Page(t, "/map").Find("main").Text()
	expect.Lacks(t, text, "no collections yet", "a map that could not be read says that there are no collections")
	s.Watcher.Publish(&topology.Table{})
	got = headline()
	expect.That(t, strings.Contains(got, "appears after the first read"), "headline %q before the first read", got)
}

func TestEachBandIsToldInWords(t *testing.T) {
	s := webtest.New(t)
	page := s.Page(t, "/map")
	label := page.Find(`.band[data-key="yorkie-meta.documents"] svg`).AttrOr("aria-label", "")
	expect.ContainsAll(t, label, []string{"250 chunks", "shard-rs-1", "jumbo"}, "the label")
	rows := page.Find(".maptable tbody tr").Length()
	expect.That(t, rows == page.Find(".band").Length(), "%d rows of the table for %d bands", rows, page.Find(".band").Length())
}

func TestWithoutAScriptLinksLeadFromAllCollectionsToOneChunk(t *testing.T) {
	s := withChunks(t, 5000)
	address := "/map"
	for range 6 {
		page := s.Page(t, address)
		next := page.Find(".band svg a").First()
		if next.Length() == 0 {
			next = page.Find(".band p a").First()
		}
		if address = next.AttrOr("href", ""); strings.HasPrefix(address, "/collections/") {
			return
		}
	}
	t.Errorf("after six steps the address is %q, want the page of a chunk", address)
}
