package matrix_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// sums are the bytes of a matrix by shard, of all its pages.
func sums(t *testing.T, s *webtest.Server, address string) (out map[string]int64, kinds map[string]int) {
	t.Helper()
	out, kinds = map[string]int64{}, map[string]int{}
	for next := ""; ; {
		list := webtest.Decode[api.List[api.MatrixRow]](t, s.Do("GET", address+next))
		for _, row := range list.Items {
			kinds[row.Kind]++
			for _, part := range row.Shards {
				if part.Bytes.Value != nil {
					out[part.Shard] += *part.Bytes.Value
				}
			}
		}
		if list.Next == "" {
			return out, kinds
		}
		next = "&cursor=" + string(list.Next)
	}
}

func TestRowsOfProjectsAddUpToTheCollections(t *testing.T) {
	s := webtest.New(t)
	collections, _ := sums(t, s, "/api/v1/matrix?by=collections")
	projects, kinds := sums(t, s, "/api/v1/matrix?by=projects")
	must.That(t, kinds["rest"] == 1 && kinds["project"] >= 100, "rows: %v", kinds)
	for shard, n := range collections {
		if math.Abs(float64(projects[shard]-n)) > float64(kinds["project"]) { // each is rounded
			t.Errorf("%s: projects and the rest have %d bytes, collections %d", shard, projects[shard], n)
		}
	}
	_, kinds = sums(t, s, "/api/v1/matrix?by=projects&q=a")
	expect.Equal(t, kinds["rest"], 0, "a filtered list has a row of the rest")
}

func TestDataOfNoListedProjectIsARowThatSaysWhatItIs(t *testing.T) {
	v := webtest.NewStory().View() // no project of the estimates is in its list
	s := serve(t, v)
	doc := s.Page(t, "/matrix?by=projects&page=2&open=rest")
	all, rest := doc.Find("tr.total"), doc.Find(`tr[data-key="rest"]`)
	if !strings.Contains(all.Find("th").Text(), "All data") || rest.Length() != 1 || !strings.Contains(rest.Text(), "Not in the list") {
		t.Fatalf("sum %q, rest %q", all.Find("th").Text(), rest.Text())
	}
	collections := s.Page(t, "/matrix")
	a, b := all.Find("td").Text(), collections.Find("tr.total td").Text()
	expect.That(t, a == b, "the sum of projects is %q, of collections %q", a, b)
	unlisted := doc.Find(`tr[data-key="rest:unlisted"] th`).Text()
	expect.Contains(t, unlisted, "4 projects that are gone or unknown", "unlisted projects")
	expect.Equal(t, doc.Find(`tr[data-key="rest:others"] th a`).AttrOr("href", ""), "/matrix", "other collections lead to")
}

// moved adds the commit of a migration of documents to the changelog.
func moved(v answer.View, after time.Duration) {
	c := v.Table.Collection(webtest.DocumentsNS)
	chunk := c.Chunks.At(0)
	details := webtest.Must(bson.Marshal(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"},
		{Key: "min", Value: webtest.Must(c.Key.Document(chunk.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(chunk.Max))}}))
	v.Table.Events = append([]topology.Event{{ID: "moved", Time: v.Table.Sizes[webtest.DocumentsNS].At.Add(after),
		What: "moveChunk.commit", NS: string(webtest.DocumentsNS), Shard: "shard-rs-1", Details: details}}, v.Table.Events...)
}

func TestACellThatIsOlderThanAMoveOfItsChunksSaysSo(t *testing.T) {
	for after, want := range map[time.Duration]int{time.Second: 2, -time.Second: 0} {
		v := webtest.NewStory().View()
		v.Table.Events = nil
		moved(v, after)
		s := serve(t, v)
		row := s.Page(t, "/matrix").Find(`tr[data-key="` + string(webtest.DocumentsNS) + `"]`)
		n := row.Find(".moved").Length()
		expect.That(t, n == want, "%s after the read %d cells are marked, not %d", after, n, want)
		if title := row.Find("td").Eq(1).AttrOr("title", ""); strings.Contains(title, "chunks moved since, the last at ") != (want > 0) {
			t.Errorf("%s after the read the title is %q", after, title)
		}
		for _, part := range webtest.Decode[api.List[api.MatrixRow]](t, s.Do("GET", "/api/v1/matrix?q=documents")).Items[0].Shards {
			expect.Equal(t, part.MovedAt != nil, want > 0 && part.Shard != "shard-rs-3",
				"%s after the read %s moved at %v", after, part.Shard, part.MovedAt)
		}
	}
}

func TestRowsNameTheirZones(t *testing.T) {
	v := webtest.NewStory().With(webtest.Troubled).View()
	s := serve(t, v)
	link := s.Page(t, "/matrix").Find(`tr[data-key="` + string(webtest.DocumentsNS) + `"] .zones a`).First()
	zone := link.AttrOr("title", "")
	must.That(t, zone != "" && link.AttrOr("href", "") == "/zones#zone-"+zone, "zone %q leads to %q", zone, link.AttrOr("href", ""))
	expect.Equal(t, s.Page(t, "/zones").Find(`tr[id="zone-`+zone+`"]`).Length(), 1, "the page of zones has no place for %s", zone)
}

func TestARowOpensIntoTheListOfItsShards(t *testing.T) {
	v := webtest.NewStory().View()
	s := serve(t, v)
	row := s.Page(t, "/matrix").Find(`tr[data-key="` + string(webtest.DocumentsNS) + `"]`)
	doc := s.Page(t, row.Find(".shardlist").AttrOr("href", ""))
	list := doc.Find("tr.listed li")
	must.That(t, list.Length() == 3 && doc.Find("tr.listed").Length() == 1, "%d shards listed", list.Length())
	link := list.First().Find("a").AttrOr("href", "")
	expect.That(t, strings.Contains(link, "?shard=shard-rs-") && strings.HasSuffix(link, "#chunks"), "a shard leads to %q", link)
	expect.Equal(t, doc.Find(`.shardlist[aria-expanded="true"]`).AttrOr("href", ""), "/matrix", "the list closes to")
}

func TestACellOfAProjectLeadsToItsPartOnTheShard(t *testing.T) {
	s := webtest.New(t)
	cell := s.Page(t, "/matrix?by=projects").Find("tr.project td a").FilterFunction(func(_ int, a *goquery.Selection) bool {
		return strings.Contains(a.Text(), "\u202f")
	}).First()
	address := strings.TrimSuffix(cell.AttrOr("href", ""), "#on-shard")
	doc := s.Page(t, address)
	part := doc.Find("#on-shard")
	expect.That(t, part.Length() == 1 && strings.Contains(part.Find(".lead").Text(), strings.TrimSpace(cell.Text())),
		"%s: %q is not about %q", address, part.Find(".lead").Text(), cell.Text())
	expect.Equal(t, doc.Find("#live-project").AttrOr("data-live-url", ""), address, "the live region reads another address")
	link := part.Find("tbody a").AttrOr("href", "")
	expect.That(t, strings.Contains(link, "?shard=") && strings.HasSuffix(link, "#chunks"), "its chunks are at %q", link)
	path, _, _ := strings.Cut(address, "?")
	for query, want := range map[string]int{"?shard=nobody": http.StatusNotFound, "?shard=%00": http.StatusBadRequest,
		"?shard=": http.StatusOK} {
		expect.Equal(t, s.Do("GET", path+query).Code, want, "%s", query)
	}
	expect.Equal(t, s.Page(t, path).Find("#on-shard").Length(), 0, "the page without a shard has a part of one")
}
