package lab_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func TestTheLabLeadsToTheGame(t *testing.T) {
	s := webtest.New(t)
	doc := s.Page(t, "/lab")
	if doc.Find(`main h2 a[href="/lab/game"]`).Length() != 1 || doc.Find(`nav.side a[href="/lab"][aria-current="page"]`).Length() != 1 {
		t.Error("the lab does not lead to its game, or is not the current entry of the navigation")
	}
}

// Without script the links lead from card to card, and the table is that of the JSON answer.
func TestTheGameIsPlayedByLinks(t *testing.T) {
	s := webtest.New(t)
	path := "/lab/game?key=hash%28order%29&players=3&step=0"
	for step := range 6 {
		doc := s.Page(t, path)
		g := webtest.Decode[api.LabGame](t, s.Do("GET", "/api/v1"+path))
		root := doc.Find("#lab-game")
		must.That(t, root.AttrOr("data-step", "") == strconv.Itoa(step) && g.Step == step,
			"%s shows card %s, JSON %d, want %d", path, root.AttrOr("data-step", ""), g.Step, step)
		said := strings.TrimSpace(root.Find("#lab-turn").Text())
		expect.That(t, (g.Turn != nil || strings.HasPrefix(said, "No card is dealt.")) && (g.Turn == nil || said == g.Turn.Text),
			"card %d is said as %q", step, said)
		root.Find("#lab-hands > li").Each(func(i int, li *goquery.Selection) {
			want := "cards: " + strconv.Itoa(g.Hands[i].Cards) + ", chunks: " + strconv.Itoa(len(g.Hands[i].Chunks))
			expect.That(t, li.Find("small").First().Text() == want && li.Find(".lab-chunks i").Length() == len(g.Hands[i].Chunks),
				"card %d: player %d is drawn as %q, want %q", step, i+1, li.Text(), want)
		})
		path = root.Find(`a[data-go="next"]`).AttrOr("href", "")
	}
	doc := s.Page(t, path)
	end := s.Page(t, doc.Find(`a[data-go="end"]`).AttrOr("href", "")).Find("#lab-game")
	expect.That(t, end.AttrOr("data-step", "") == end.AttrOr("data-cards", "x"),
		"the end is card %s of %s", end.AttrOr("data-step", ""), end.AttrOr("data-cards", ""))
}

func TestTheTableOfResultsHasThePublishedKeysAndTheChosenOne(t *testing.T) {
	s := webtest.New(t)
	doc := s.Page(t, "/lab/game?workload=projects&key=project,hash(doc)&decks=10&joins=52")
	keys := doc.Find("#lab-results tbody tr").Map(func(_ int, tr *goquery.Selection) string { return tr.AttrOr("data-key", "") })
	expect.EqualSlices(t, keys, []string{"order", "hash(order)", "deck,hash(order)", "project,hash(doc)"}, "keys")
	marked := doc.Find("#lab-results tr.marked")
	expect.That(t, marked.Length() == 1 && marked.AttrOr("data-key", "") == "project,hash(doc)", "the chosen key is not marked")
	expect.That(t, doc.Find("svg.lab-picture rect[class^=s] title").Length() >= 40, "the picture has no bars for 10 decks and 4 players")
	one := s.Page(t, "/lab/game?decks=1").Find("#lab-results tr.marked")
	expect.That(t, strings.Contains(one.Text(), "–"), "with one deck the share of finished decks is not unknown")
}

// Each form of the answer shows the same game for the same inputs, and the form of the page has these inputs.
func TestALinkMakesTheSameGameAgain(t *testing.T) {
	s := webtest.New(t)
	query := "?" + url.Values{"workload": {"csv"}, "csv": {"project,doc\natlas,d1\nwiki,d2\natlas,d3\natlas,d4\nwiki,d5\n"},
		"key": {"project,doc"}, "players": {"2"}, "dealers": {"2"}, "seed": {"7"}, "joins": {"3"}}.Encode()
	first := webtest.Decode[api.LabGame](t, s.Do("GET", "/api/v1/lab/game"+query))
	again := s.Do("GET", "/api/v1"+string(first.URL)).Body.String()
	want := s.Do("GET", "/api/v1/lab/game"+query).Body.String()
	expect.That(t, again == want, "%s is another game:\n%s\n%s", first.URL, again, want)
	form := url.Values{}
	doc := s.Page(t, "/lab/game"+query)
	doc.Find("form.lab-inputs [name]").Each(func(_ int, in *goquery.Selection) {
		value := in.AttrOr("value", in.Text())
		if in.Is("select") {
			value = in.Find("option[selected]").AttrOr("value", "")
		}
		form.Set(in.AttrOr("name", ""), value)
	})
	sent := webtest.Decode[api.LabGame](t, s.Do("GET", "/api/v1/lab/game?"+form.Encode()))
	expect.That(t, sent.URL == first.URL && len(first.Items) == 4 && first.Items[3].Cards == 5,
		"the form asks for %s, not %s", sent.URL, first.URL)
	svg := s.Do("GET", "/lab/game.svg"+query)
	for d := xml.NewDecoder(svg.Body); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil || svg.Header().Get("Content-Type") != "image/svg+xml" {
			t.Fatalf("%s: %v", svg.Header().Get("Content-Type"), err)
		}
	}
	csv := s.Do("GET", "/lab/game.csv"+query).Body.String()
	expect.That(t, strings.Count(csv, "\n") == 5 && strings.Contains(csv, "\"project,doc\""), "CSV: %s", csv)
}

func TestWrongInputsAreSaidInTheFormWithTheirLimits(t *testing.T) {
	s := webtest.New(t)
	for query, says := range map[string]string{
		"players=0":    `players must be a number from 1 to 60, not "0".`,
		"decks=201":    `decks must be a number from 1 to 200, not "201".`,
		"step=209":     `step must be a number from 0 to 208, not "209".`,
		"key=<b>":      `key must be made of the fields order, deck, suit, rank, not of "<b>".`,
		"workload=csv": `csv must have a line with names of fields, and at least one line below it.`,
		"workload=csv&csv=a%0A" + strings.Repeat("x", 101): `csv must have cells of at most 100 bytes of UTF-8`,
	} {
		doc := s.PageWith(t, http.StatusBadRequest, "/lab/game?"+query)
		got := doc.Find(`[role="alert"]`).Text()
		expect.That(t, strings.HasPrefix(got, says), "%.60s: %q, want %q", query, got, says)
		name, value, _ := strings.Cut(query, "=")
		in := doc.Find(`form.lab-inputs input[name="` + name + `"]`)
		expect.That(t, in.Length() != 1 || in.AttrOr("value", "") == value, "%s: the form has %q again", query, in.AttrOr("value", ""))
		var p api.Problem
		w := s.Do("GET", "/api/v1/lab/game?"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusBadRequest || !strings.HasPrefix(p.Detail, says) {
			t.Errorf("JSON of %.60s: %d %.200s", query, w.Code, w.Body)
		}
	}
	expect.Equal(t, s.Do("GET", "/lab/game.svg?show=heat").Code, http.StatusBadRequest, "an unknown picture")
}

// The largest game that may be asked for is drawn in bounds: a page that is a few hundred kilobytes at most.
func TestTheLargestGameIsAPageThatABrowserCanDraw(t *testing.T) {
	s := webtest.New(t)
	w := s.Do("GET", "/lab/game?players=60&dealers=60&decks=200&key=hash(order)", webtest.Header("Accept", "text/html"))
	expect.That(t, w.Code == http.StatusOK && w.Body.Len() <= 900_000, "%d, %d bytes", w.Code, w.Body.Len())
}
