package zones_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// stubPins are what plans said, as the runs tell it.
type stubPins struct {
	mu      sync.Mutex
	pins    map[string]rules.Pin
	version uint64
	told    chan struct{}
}

func (p *stubPins) Pins() (map[string]rules.Pin, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pins, p.version
}

func (p *stubPins) Subscribe() (<-chan struct{}, func()) { return p.told, func() {} }

func (p *stubPins) publish(pins map[string]rules.Pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins, p.version = pins, p.version+1
	select {
	case p.told <- struct{}{}:
	default:
	}
}

func newPins(of map[string]rules.Pin) *stubPins {
	return &stubPins{pins: of, version: 1, told: make(chan struct{}, 1)}
}

func withPins(p answer.Pins) func(*site.Deps) { return func(d *site.Deps) { d.Changes.Pins = p } }

// pinnedTable is the canned one with the projects of these numbers on shard-rs-1.
func pinnedTable(projects ...int) *topology.Table {
	t := webtest.CannedTable(2, 250)
	t.Shards = slices.Clone(t.Shards)
	for _, n := range projects {
		t.Shards[1].Zones = append(slices.Clone(t.Shards[1].Zones), answer.PinZone(webtest.ProjectID(n)))
	}
	return t
}

// pinnedSite has three pins: of one a plan said all, of one nothing, and the
// third was made by hand. Another project has no pin any more.
func pinnedSite(t testing.TB, owner string) *webtest.Server {
	s := webtest.New(t, withPins(newPins(map[string]rules.Pin{
		webtest.ProjectID(1).Hex(): {Owner: owner, Expires: webtest.Epoch.Add(time.Hour)},
		webtest.ProjectID(2).Hex(): {},
		webtest.ProjectID(4).Hex(): {Owner: "gone", Expires: webtest.Epoch.Add(time.Hour)},
	})))
	s.Watcher.Value = pinnedTable(1, 2, 3)
	return s
}

func TestPinTermsAreInTheJSONOfZonesAndProjects(t *testing.T) {
	s := pinnedSite(t, webtest.HostileName)
	check := func(where string, got api.PinTerms, n int) {
		t.Helper()
		switch {
		case n == 1 && (got.Owner == nil || *got.Owner != webtest.HostileName || got.Expires == nil ||
			!got.Expires.Equal(webtest.Epoch.Add(time.Hour))),
			n == 2 && (got.Owner == nil || *got.Owner != "" || got.Expires != nil),
			n > 2 && (got.Owner != nil || got.Expires != nil):
			t.Errorf("%s of project %d: %+v", where, n, got)
		}
	}
	zones := map[string]api.Zone{}
	for _, z := range webtest.Decode[api.List[api.Zone]](t, s.Do("GET", "/api/v1/zones")).Items {
		zones[z.Zone] = z
	}
	check("zone eu", zones["eu"].PinTerms, 9)
	for n := 1; n <= 4; n++ {
		zone, there := zones[answer.PinZone(webtest.ProjectID(n))]
		must.That(t, there == (n < 4), "%v", zones)
		check("zone", zone.PinTerms, n)
		w := s.Do("GET", "/api/v1/projects/"+webtest.ProjectID(n).Hex())
		check("project", webtest.Decode[api.ProjectDetail](t, w).PinTerms, n)
		expect.Equal(t, !strings.Contains(w.Body.String(), `"owner"`), n > 2, "project %d: %s", n, w.Body)
	}
}

func TestPinTermsAreWordsOnThePagesOfZonesAndProjects(t *testing.T) {
	owner := webtest.HostileName + strings.Repeat("x", 500)
	s := pinnedSite(t, owner)
	says := []string{
		1: "Expires 2026-03-01 13:00 UTC. Owner: " + sanitize.Truncate(owner, answer.OwnerShown),
		2: "Does not expire. No owner was named.",
		3: "Expiry and owner: not known here.",
	}
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	page := s.Do("GET", "/zones").Body.String()
	zones := webtest.ParseHTML(t, page)
	expect.Equal(t, zones.Find("#live-zones .pinned").Length(), 3, "zones have terms")
	for n := 1; n <= 4; n++ {
		html := s.Do("GET", "/projects/"+webtest.ProjectID(n).Hex()).Body.String()
		project := webtest.ParseHTML(t, html)
		if n == 4 {
			expect.Equal(t, project.Find(".pin, .pinned").Length(), 0, "a project that is not pinned has terms")
			continue
		}
		row := zones.Find(`tr[data-key="` + answer.PinZone(webtest.ProjectID(n)) + `"] .pinned`)
		expect.Equal(t, words(row.Text()), words(says[n]), "/zones")
		expect.Equal(t, words(project.Find("#live-project .pin").Text()), words("Pinned to shard-rs-1. "+says[n]), "/projects")
		expect.That(t, !strings.Contains(html, "<script>alert") && !strings.Contains(page, "<script>alert"), "an owner's name is markup")
	}
}

func TestPinTermsAreNotKnownWhereNothingIsRun(t *testing.T) {
	s := webtest.New(t)
	s.Watcher.Value = pinnedTable(1)
	for _, path := range []string{"/zones", "/projects/" + webtest.ProjectID(1).Hex()} {
		expect.Contains(t, s.Page(t, path).Find(".pinned").Text(), "not known here", "%s", path)
	}
	expect.LacksAll(t, s.Do("GET", "/api/v1/zones").Body.String(), []string{"owner", "expires"}, "the body")
}

func TestZonesThatOnlyLookLikePinsHaveNoTerms(t *testing.T) {
	hex := webtest.ProjectID(26).Hex() // has a letter
	s := webtest.New(t, withPins(newPins(map[string]rules.Pin{hex: {Owner: "anna"}})))
	table := pinnedTable()
	table.Shards[1].Zones = []string{"pin-", "pin-beta", "pin-" + strings.ToUpper(hex), hex, "not-pin-" + hex}
	s.Watcher.Value = table
	w := s.Do("GET", "/zones")
	expect.That(t, w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `class="pinned"`), "%d %s", w.Code, w.Body)
	expect.Lacks(t, s.Do("GET", "/api/v1/zones").Body.String(), "anna", "the text")
}

func TestETagsChangeWithPins(t *testing.T) {
	pins := newPins(nil)
	s := webtest.New(t, withPins(pins))
	s.Watcher.Value = pinnedTable(1)
	for _, path := range []string{"/zones", "/api/v1/zones", "/api/v1/projects/" + webtest.ProjectID(1).Hex()} {
		tag := s.Do("GET", path).Header().Get("ETag")
		w := s.Do("GET", path, webtest.Header("If-None-Match", tag))
		must.That(t, tag != "" && w.Code == http.StatusNotModified, "%s: %q, %d", path, tag, w.Code)
		pins.publish(map[string]rules.Pin{webtest.ProjectID(1).Hex(): {Owner: "owner of " + path}})
		w = s.Do("GET", path, webtest.Header("If-None-Match", tag))
		expect.That(t, w.Code == http.StatusOK && strings.Contains(w.Body.String(), "owner of "+path), "%s after a pin: %d", path, w.Code)
	}
}

func TestLiveRegionsChangeWithPins(t *testing.T) {
	pins := &stubPins{}
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		l.Watcher.Publish(pinnedTable(1))
		topics := []string{"zones", "project:" + webtest.ProjectID(1).Hex()}
		b := l.Open("t=" + strings.Join(topics, ","))
		pins.publish(map[string]rules.Pin{webtest.ProjectID(1).Hex(): {Owner: "anna"}})
		time.Sleep(time.Second)
		synctest.Wait()
		for _, topic := range topics {
			told := slices.ContainsFunc(b.Frames(), func(f webtest.Frame) bool {
				return f.Topic == topic && strings.Contains(f.HTML, "<bdi>anna</bdi>")
			})
			expect.That(t, told, "%s was not told of the pin", topic)
		}
		b.Close()
	}, func(d *site.Deps) {
		pins.told = make(chan struct{}, 1) // of the bubble
		d.Changes.Pins = pins
	})
}

func TestPinTermsAreOfNowOnly(t *testing.T) {
	x := webtest.NewPastServer(t)
	v := x.View()
	v.Table, v.Pins = pinnedTable(1), map[string]rules.Pin{webtest.ProjectID(1).Hex(): {Owner: "anna"}}
	zone := answer.PinZone(webtest.ProjectID(1))
	pinned := func() bool {
		pr, err := answer.FindProject(v, "", webtest.ProjectID(1))
		must.Do(t, err)
		p := profile.Yorkie()
		return spread.Project(v, p, placement.SpreadOf(v.Table, p, pr)).Pinned
	}
	terms := answer.PinTermsOf(v, zone)
	expect.That(t, terms.Owner != nil && *terms.Owner == "anna" && pinned(), "nothing is known of now")
	v.Past = &answer.PastTime{At: webtest.Epoch}
	terms = answer.PinTermsOf(v, zone)
	expect.That(t, !terms.Pinned && terms.Owner == nil && !pinned(), "what is known of now is told of the past")
}
