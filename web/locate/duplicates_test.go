package locate_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// stubCheck is a check that notes what it is told.
type stubCheck struct {
	report placement.CheckReport
	told   []string
	from   bson.RawValue // of orders
}

func (c *stubCheck) Start(resume bool, from map[topology.Namespace]bson.RawValue) error {
	if c.report.State == placement.CheckRunning {
		return fault.New(fault.Conflict, "It is running already.")
	}
	c.told = append(c.told, map[bool]string{false: "start", true: "resume"}[resume])
	c.report.State, c.from = placement.CheckRunning, from["shop.orders"]
	return nil
}

func (c *stubCheck) Stop() error {
	c.told = append(c.told, "stop")
	c.report.State = placement.CheckStopped
	return nil
}

func (c *stubCheck) Report() placement.CheckReport { return c.report }

func TestTheCheckForDuplicateIDsIsStartedAndStoppedByForms(t *testing.T) {
	check := &stubCheck{report: placement.CheckReport{State: placement.CheckIdle, Left: -1}}
	s := webtest.New(t, func(d *site.Deps) { d.Locate.Duplicates = check })
	for _, step := range []struct {
		do, want string
		status   int
	}{{"start", "Checking.", 303}, {"start", "Checking.", 409}, {"stop", "Stopped", 303}, {"resume", "Checking.", 303},
		{"", "Checking.", 400}} {
		w := s.Do("POST", "/checks/duplicates", formPost(url.Values{"do": {step.do}})...)
		expect.That(t, w.Code == step.status && (w.Code != 303 || w.Header().Get("Location") == "/checks/duplicates"),
			"%s: %d", step.do, w.Code)
		page := s.Do("GET", "/checks/duplicates")
		expect.That(t, strings.Contains(page.Body.String(), step.want) &&
			(page.Header().Get("Refresh") != "") == (check.report.State == placement.CheckRunning), "after %s: %s", step.do, page.Body)
	}
	expect.Equal(t, strings.Join(check.told, " "), "start stop resume", "told %v", check.told)
	w := s.Do("POST", "/checks/duplicates",
		append(formPost(url.Values{"do": {"stop"}}), webtest.Header("Sec-Fetch-Site", "cross-site"))...)
	expect.Equal(t, w.Code, 403, "another site's form")
	w = webtest.New(t).Do("POST", "/checks/duplicates", formPost(url.Values{"do": {"start"}})...)
	expect.Equal(t, w.Code, 503, "without a check")
}

func TestTheCheckForDuplicateIDsIsInTheAPI(t *testing.T) {
	id := webtest.ProjectID(77)
	check := &stubCheck{report: placement.CheckReport{
		State: placement.CheckFailed, Started: webtest.Epoch, Left: -1, Problem: "The cluster does not answer.", FoundCount: 1,
		Collections: []placement.CheckProgress{{NS: "yorkie-meta.documents", Read: 5, Next: placement.ObjectIDValue(id),
			Total: topology.Figure{Reason: "notLoaded"}}},
		Found: []placement.SharedID{{IDPlace: placement.IDPlace{NS: "yorkie-meta.documents", ID: id}, At: webtest.Epoch,
			Rows: []placement.SharedRow{
				{Shard: "shard-rs-1", Project: webtest.ProjectID(1)},
				{Shard: "shard-rs-2", Project: webtest.ProjectID(2)},
			}}},
	}}
	s := webtest.New(t, func(d *site.Deps) { d.Locate.Duplicates = check })
	got := webtest.Decode[api.DuplicateCheck](t, s.Do("GET", "/api/v1/checks/duplicates"))
	expect.That(t, got.State == "failed" && got.Found == 1 && got.Items[0].ID == id.Hex() && len(got.Items[0].Rows) == 2 &&
		got.Collections[0].Next == id.Hex() && got.LeftSeconds == nil, "%+v", got)
	page := s.Do("GET", "/checks/duplicates").Body.String()
	if !strings.Contains(page, "1 id is on more than one shard") || !strings.Contains(page, id.Hex()) {
		t.Error(page)
	}
	started := webtest.Decode[api.DuplicateCheck](
		t,
		s.Do("POST", "/api/v1/checks/duplicates", webtest.Header("Content-Type", "application/json"),
			webtest.Body(`{"resume":true,"from":{"yorkie-meta.documents":"`+id.Hex()+`"}}`)),
	)
	expect.That(t, started.State == "running" && check.told[0] == "resume", "%+v %v", started, check.told)
	_ = check.Stop()
	w := s.Do("POST", "/api/v1/checks/duplicates", webtest.Header("Content-Type", "application/json"),
		webtest.Body(`{"from":{"shop.orders":"\"A-17\""}}`))
	expect.That(t, w.Code == 200 && check.from.StringValue() == "A-17", "from a text: %d, %s", w.Code, check.from)
	for in, status := range map[string]int{"": 409, "{}": 409, `{"resume":1}`: 400, `{"more":1}`: 400, `{} {}`: 400,
		`{"from":{"x.y":"zz"}}`: 400, `[`: 400} {
		w := s.Do("POST", "/api/v1/checks/duplicates", webtest.Header("Content-Type", "application/json"),
			webtest.Body(in))
		expect.That(t, w.Code == status, "%s: %d %s", in, w.Code, w.Body)
	}
	w = s.Do("POST", "/api/v1/checks/duplicates", webtest.Header("Content-Type", "text/plain"), webtest.Body("{}"))
	expect.Equal(t, w.Code, 415, "another type")
	w = s.Do("POST", "/api/v1/checks/duplicates/stop")
	expect.That(t, w.Code == 200 && check.report.State == placement.CheckStopped, "stop: %d", w.Code)
}

// An id that is no ObjectID is found where all collections are searched for it.
func TestADuplicateIDLeadsToItsRows(t *testing.T) {
	kind, data, err := bson.MarshalValue("order/17")
	must.Do(t, err)
	id, stored, _ := placement.IDOf(bson.RawValue{Type: kind, Value: data})
	plain := webtest.ProjectID(77)
	s := webtest.New(t, func(d *site.Deps) {
		d.Locate.Duplicates = webtest.FoundDuplicates{Found: []placement.SharedID{
			{IDPlace: placement.IDPlace{NS: "shop.orders", ID: id}, Stored: stored},
			{IDPlace: placement.IDPlace{NS: "yorkie-meta.documents", ID: plain}}}}
	})
	page := s.Page(t, "/checks/duplicates")
	for text, href := range map[string]string{
		"order/17": "/locate?q=order%2F17&in=collections", plain.Hex(): "/locate?q=" + plain.Hex()} {
		link := page.Find("th a").FilterFunction(func(_ int, a *goquery.Selection) bool { return a.Text() == text })
		got := link.AttrOr("href", "")
		expect.That(t, got == href, "%s leads to %q, not to %q", text, got, href)
	}
}

// The server's own check is offered to operators from 7.0 on, and its findings are said in our words.
func TestTheMetadataIsCheckedOnRequest(t *testing.T) {
	o := simcluster.Options{Projects: 2, Documents: 5, Still: true, ServerVersion: "7.0"}
	webtest.OnBreakableCluster(t, o, func(f *webtest.BreakableServer) {
		const ns = "yorkie-meta.documents"
		check := func(body string, role auth.Role) (api.MetadataCheck, int) {
			w := f.Do("POST", "/api/v1/checks/metadata", webtest.Header("Content-Type", "application/json"), webtest.Body(body),
				webtest.As("anna", role))
			if w.Code != 200 {
				return api.MetadataCheck{}, w.Code
			}
			return webtest.Decode[api.MetadataCheck](f.T, w), w.Code
		}
		if got, code := check(`{}`, auth.Operator); code != 200 || len(got.Items) > 0 || got.Of != "" {
			f.Errorf("a sound cluster: %d %+v", code, got)
		}
		field := bson.D{{Key: "wrong", Value: 1}}
		_, err := f.Sim.Command(f.Context(), "config", bson.D{{Key: "insert", Value: "tags"}, {Key: "documents", Value: bson.A{bson.D{
			{Key: "_id", Value: bson.D{{Key: "ns", Value: ns}, {Key: "min", Value: field}}}, {Key: "ns", Value: ns},
			{Key: "min", Value: field}, {Key: "max", Value: bson.D{{Key: "wrong", Value: 2}}}, {Key: "tag", Value: "z"},
		}}}})
		f.Must(err)
		time.Sleep(time.Minute)
		got, _ := check(`{"ns":"`+ns+`"}`, auth.Operator)
		expect.That(f, len(got.Items) == 1 && got.Items[0].Kind == "CorruptedZoneShardKey" && got.Items[0].NS == ns &&
			strings.Contains(got.Items[0].Text, "no values of the shard key") && strings.Contains(got.Items[0].Details, "wrong"),
			"a zone's range that does not fit: %+v", got)
		got, code := check(`{"db":"nothing"}`, auth.Operator)
		expect.That(f, code != 200 || len(got.Items) == 0, "another database: %+v", got)
		for body, want := range map[string]int{`{"ns":"nodot"}`: 400, `{"ns":"a.b","db":"a"}`: 400, `{"db":"$x"}`: 400} {
			_, code := check(body, auth.Operator)
			expect.Equal(f, code, want, "%s", body)
		}
		_, code = check(`{}`, auth.Viewer)
		expect.Equal(f, code, 403, "a viewer")
		page := f.Do("POST", "/checks/metadata", append(formPost(url.Values{"ns": {ns}}), webtest.As("anna", auth.Operator))...).Body.String()
		expect.That(f, strings.Contains(page, "1 contradiction in "+ns) && strings.Contains(page, "CorruptedZoneShardKey"),
			"the page: %s", page)
		if page := f.Do("GET", "/checks/metadata", webtest.As("anna", auth.Viewer)).Body.String(); !strings.Contains(page, "needs the role") {
			f.Error("a viewer is not told which role it needs")
		}
		page = f.Do("GET", "/advice", webtest.As("anna", auth.Viewer)).Body.String()
		expect.Contains(f, page, "/checks/metadata?ns="+ns, "the problem does not lead to the check")
	})
}
