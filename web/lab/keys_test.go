package lab_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestKeysOfAModelAreComparedOnThePageAndInItsData(t *testing.T) {
	s := webtest.New(t)
	path := "/lab/keys?collection=clients&projects=5&perProject=400&chunkMB=1&keys=" + url.QueryEscape(`{"key":1}`)
	doc := s.Page(t, path)
	a := webtest.Decode[api.LabKeys](t, s.Do("GET", "/api/v1"+path))
	rows := doc.Find("#lab-keys tbody tr")
	must.That(t, len(a.Items) == 8 && rows.Length() == len(a.Items) && a.Exact && a.Reading == nil,
		"%d keys, %d rows", len(a.Items), rows.Length())
	for i, k := range a.Items {
		row := rows.Eq(i)
		expect.That(t, row.AttrOr("data-key", "") == k.Key && strings.Contains(row.Text(), k.Weakness) && k.Weakness != "",
			"row %d is %q, expected %s: %s", i, row.Text(), k.Key, k.Weakness)
		bars := row.Find("svg.lab-bars rect").Length()
		expect.That(t, bars == 2*len(k.Parts), "%s has %d bars for %d shards", k.Key, bars, len(k.Parts))
	}
	again := webtest.Decode[api.LabKeys](t, s.Do("GET", "/api/v1"+string(a.URL)))
	expect.That(t, again.URL == a.URL && again.Items[0].FullestShare == a.Items[0].FullestShare,
		"the link %s makes another comparison", a.URL)
	csv := s.Do("GET", strings.Replace(path, "/lab/keys", "/lab/keys.csv", 1)).Body.String()
	n := strings.Count(strings.TrimSpace(csv), "\n")
	expect.That(t, n == len(a.Items) && strings.HasPrefix(csv, "name,key,today"), "CSV has %d lines: %.200s", n, csv)
}

func TestWrongInputsOfAComparisonAreSaidInTheForm(t *testing.T) {
	s := webtest.New(t)
	doc := s.PageWith(t, http.StatusBadRequest, "/lab/keys?shards=0&keys=x")
	expect.Contains(t, doc.Find(".is-failed").Text(), "shards must be a number from 1 to 1024", "the refusal")
	typed := doc.Find(`input[name="shards"]`).AttrOr("value", "")
	expect.That(t, typed == "0", "the form has %q shards", typed)
}

// stubRows gives rows after some questions.
type stubRows struct {
	waits int
	asked []rowsample.Query
}

func (r *stubRows) Ask(_ context.Context, q rowsample.Query) (rowsample.Reading, error) {
	r.asked = append(r.asked, q)
	if len(r.asked) <= r.waits {
		return rowsample.Reading{Done: 30, Total: 200, Left: 20 * time.Second, PerSecond: 200}, nil
	}
	out := &rowsample.Result{Whole: true, Unique: [][]string{{"project_id", "key", "removed_at"}}}
	for i := range 300 {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(webtest.Epoch.Add(time.Duration(i) * time.Minute))},
			{Key: "project_id", Value: i % 3}, {Key: "key", Value: "secret-of-a-customer"}})
		if err != nil {
			return rowsample.Reading{}, err
		}
		out.Rows = append(out.Rows, rowsample.Row{Doc: raw, Bytes: 1000})
	}
	return rowsample.Reading{Done: 300, Total: 300, Result: out}, nil
}

func TestRowsOfACollectionAreReadWithProgressAndTheirValuesAreNotShown(t *testing.T) {
	rows := &stubRows{waits: 1}
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Rows = rows })
	const path = "/lab/keys?ns=yorkie-meta.documents&rows=200"
	w := s.Do("GET", path, webtest.Header("Accept", "text/html"))
	doc := webtest.ParseHTML(t, w.Body.String())
	said := doc.Find("#lab-reading").Text()
	must.That(t, w.Header().Get("Refresh") != "" && strings.Contains(said, "30 of 200") && strings.Contains(said, "left"),
		"while rows are read: Refresh %q, %q", w.Header().Get("Refresh"), said)
	doc = s.Page(t, path)
	a := webtest.Decode[api.LabKeys](t, s.Do("GET", "/api/v1"+path))
	today := a.Items[0]
	if a.Rows != 300 || !a.Exact || !today.Today || today.Values.Value != 3 || !strings.Contains(a.Source, "order of insertion by _id") {
		t.Fatalf("%+v", a)
	}
	html, _ := doc.Html()
	expect.That(t, !strings.Contains(html, "secret-of-a-customer"), "the page shows a value of a row")
	q := rows.asked[0]
	expect.That(t, q.NS == topology.Namespace("yorkie-meta.documents") && q.Rows == 200, "asked for %+v", q)
	expect.That(t, doc.Find(`#lab-keys a[href^="/plans/new?"]`).Length() != 0, "no key leads to its plan")
}

func TestRowsOfOtherCollectionsAreNotRead(t *testing.T) {
	rows := &stubRows{}
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Rows = rows })
	for ns, status := range map[string]int{"yorkie-meta.projects": http.StatusBadRequest, "config.system.sessions": http.StatusBadRequest,
		"yorkie-meta.nothing": http.StatusNotFound} {
		w := s.Do("GET", "/api/v1/lab/keys?ns="+ns)
		expect.That(t, w.Code == status || w.Code == http.StatusNotFound, "%s: %d %s", ns, w.Code, w.Body)
	}
	expect.Equal(t, len(rows.asked), 0, "readings were started")
}

func TestWhereIDsLandIsShownForEachKind(t *testing.T) {
	s := webtest.New(t)
	doc := s.Page(t, "/lab/ids?inserts=2000&shards=4")
	a := webtest.Decode[api.LabIDs](t, s.Do("GET", "/api/v1/lab/ids?inserts=2000&shards=4"))
	must.That(t, len(a.Items) == 5 && doc.Find("#lab-ids tbody tr").Length() == 5 && doc.Find("svg.lab-landing rect").Length() >= 5*48,
		"%d kinds, %d rows", len(a.Items), doc.Find("#lab-ids tbody tr").Length())
	first := a.Items[0]
	expect.That(t, first.Kind == "ObjectID" && first.BusiestShare >= 0.999 && strings.HasPrefix(first.Text, "All new rows go to one shard"),
		"%+v", first)
	doc = s.PageWith(t, http.StatusBadRequest, "/lab/ids?hours=0")
	expect.Contains(t, doc.Find(".is-failed").Text(), "hours must be a number from 1 to 8760", "the refusal")
}

// Reading rows costs the cluster, so people who may only look cannot let it happen; a model is for everybody.
func TestRowsAreReadForOperatorsOnly(t *testing.T) {
	rows := &stubRows{}
	s := webtest.NewAccountServer(t, func(d *site.Deps) { d.Measured.Rows = rows })
	for name, status := range map[string]int{"viewer": http.StatusForbidden, "operator": http.StatusOK} {
		w := s.Do("GET", "/api/v1/lab/keys?ns=yorkie-meta.documents&rows=200", s.With(name))
		expect.That(t, w.Code == status, "%s: %d %.300s", name, w.Code, w.Body)
		w = s.Do("GET", "/api/v1/lab/keys?rows=200", s.With(name))
		expect.That(t, w.Code == http.StatusOK, "%s compares a model: %d %.300s", name, w.Code, w.Body)
	}
	expect.Equal(t, len(rows.asked), 1, "readings were started, expected that of the operator")
}
