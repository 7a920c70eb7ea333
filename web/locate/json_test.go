package locate_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestLocateAnswersTheDocumentedShape(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	var got struct {
		Items []struct {
			Kind, ID, Project string
			Places            []map[string]any
		}
	}
	w := s.Do("GET", "/api/v1/locate?q=p/d")
	err := json.Unmarshal(w.Body.Bytes(), &got)
	must.That(t, err == nil && len(got.Items) == 1 && len(got.Items[0].Places) == 3, "%v %s", err, w.Body)
	it := got.Items[0]
	expect.That(t, it.Kind == "document" && it.ID == webtest.ProjectID(1).Hex() && it.Project == webtest.ProjectID(5).Hex(), "%+v", it)
	first, _ := json.Marshal(it.Places[0]["min"])
	p := it.Places[0]
	expect.That(t, p["ns"] == "yorkie-meta.documents" && p["shard"] == "shard-rs-2" && p["hash"] == "-4611686018427387905" &&
		p["exists"] == true &&
		string(first) == fmt.Sprintf(`{"project_id":{"$oid":%q}}`, webtest.ProjectID(5).Hex()), "%v", p)
	p = it.Places[1]
	expect.That(t, p["shard"] == "" && p["exists"] == nil && p["hash"] == nil && p["min"] == nil, "%v", p)
	expect.Equal(t, it.Places[2]["exists"], false, "%v", it.Places[2])
}

func TestLocateManyLines(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	var mu sync.Mutex
	running, most := 0, 0
	inner := s.Locator.Answer
	s.Locator.Answer = func(q placement.Query) ([]placement.Item, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return inner(q)
	}
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("%s%d", []string{"p/", "bad"}[i%2], i))
	}
	in, _ := json.Marshal(api.LocateRequest{Lines: lines})
	for _, post := range []struct{ kind, text string }{{"text/plain; charset=utf-8", strings.Join(lines, "\r\n") + "\n\n"},
		{"application/json", string(in)}, {"", strings.Join(lines, "\n")}} {
		got := webtest.Decode[api.List[api.LocateLine]](t,
			s.Do("POST", "/api/v1/locate", webtest.Header("Content-Type", post.kind), webtest.Body(post.text)))
		must.That(t, len(got.Items) == 1000, "%d lines", len(got.Items))
		for i, line := range got.Items {
			must.That(t, line.Line == i+1 && line.Query == lines[i] && (line.Problem == nil) == (i%2 == 0) && len(line.Items) == 1-i%2,
				"line %d: %+v", i, line)
		}
	}
	expect.That(t, most <= locating.LocateWorkers, "%d at a time", most)
	for _, post := range []struct {
		kind, text string
		status     int
	}{
		{"text/plain", strings.Repeat("x\n", 1001), 400}, {"text/plain", "\n\n", 400}, {"text/plain", "a\x00b", 400},
		{"text/plain", "\xff", 400}, {"text/plain", strings.Repeat("x", 4097), 400},
		{"application/json", `{"lines":`, 400}, {"application/json", `{"lines":["a"],"more":1}`, 400},
		{"application/json", `{"lines":[{"$gt":1}]}`, 400}, {"image/png", "x", 415}, {"???", "x", 400},
	} {
		w := s.Do("POST", "/api/v1/locate", webtest.Header("Content-Type", post.kind), webtest.Body(post.text))
		expect.Equal(t, w.Code, post.status, "%s %.20q", post.kind, post.text)
		webtest.CheckProblem(t, w, "/api/v1/locate")
	}
}

func TestPanicInOneLineFailsThatLineOnly(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	inner := s.Locator.Answer
	s.Locator.Answer = func(q placement.Query) ([]placement.Item, error) {
		if q.Text == "boom" {
			panic("inside")
		}
		return inner(q)
	}
	got := webtest.Decode[api.List[api.LocateLine]](t, s.Do("POST", "/api/v1/locate", webtest.Body("p/1\nboom\np/2")))
	expect.That(t, len(got.Items) == 3 && got.Items[0].Problem == nil && got.Items[1].Problem != nil && got.Items[1].Problem.Status == 500 &&
		got.Items[2].Problem == nil, "%+v", got)
}

// keyQuestions are namespaces with shard-key values of every form of answer:
// one chunk by hash or range, with zone and jumbo flag, several shards,
// unsharded, and names and values that JSON must escape.
var keyQuestions = [][2]string{
	{"yorkie-meta.changes", `{"doc_id":{"$oid":"65e000000000000000000001"}}`},
	{"yorkie-meta.changes", ` {"$oid":"65e000000000000000000001"}`},
	{"yorkie-meta.documents", `{"project_id":{"$oid":"65e000000000000000000003"}}`},
	{"yorkie-meta.documents", `{"project_id":{"$oid":"65e000000000000000000007"}}`},
	{"yorkie-meta.documents", `{"project_id":{"$minKey":1}}`},
	{"yorkie-meta.clients", `{"project_id":{"$oid":"65e000000000000000000003"}}`},
	{"yorkie-meta.clients", `{"project_id":{"$oid":"65e000000000000000000003"},"_id":{"$oid":"65e000000000000000000004"}}`},
	{"yorkie-meta.projects", `{"_id":1}`}, {"weird.a/b,c@1%2F ü", `{"name":"<b>&\u2028 \"quoted\" \\ ü\u0001"}`},
	{"weird.a/b,c@1%2F ü", `{"name":"plain"}`}, {"weird.a/b,c@1%2F ü", `{"name":{"$numberDouble":"NaN"}}`},
}

func keySite(t testing.TB) *webtest.Server {
	s := webtest.New(t)
	s.Watcher.Value.Collections = append(s.Watcher.Value.Collections[:1:1], append([]*topology.Collection{
		s.Watcher.Value.Collections[1],
		webtest.CannedCollection("yorkie-meta.clients", bson.D{{Key: "project_id", Value: 1}, {Key: "_id", Value: "hashed"}}, 1, 4),
	}, s.Watcher.Value.Collections[2:]...)...)
	s.Deps.Locate.Locator = realLocator(s)
	return s
}

func TestFastPathForKeysAnswersLikeTheGeneralOne(t *testing.T) {
	s := keySite(t)
	for _, q := range keyQuestions {
		address := "/api/v1/locate?" + url.Values{"ns": {q[0]}, "key": {q[1]}}.Encode()
		quick, general := s.Do("GET", address), s.Do("GET", address+"&any=1")
		expect.That(t, quick.Code == http.StatusOK && quick.Body.String() == general.Body.String(),
			"%s: %d %s\ngeneral: %d %s", address, quick.Code, quick.Body, general.Code, general.Body)
		for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "Etag"} {
			got, want := quick.Header().Get(name), general.Header().Get(name)
			expect.That(t, got == want, "%s: %s is %q, in general %q", address, name, got, want)
		}
		answer, err := s.Deps.Locate.Locator.Ask(t.Context(), placement.Query{NS: topology.Namespace(q[0]), Key: q[1]})
		expect.That(t, err == nil && locating.PlainKeyAnswer(answer), "%s is not written by hand: %v", address, err)
	}
}

func TestInvalidKeysFailLikeOtherInput(t *testing.T) {
	s := keySite(t)
	for _, q := range [][2]string{
		{"yorkie-meta.nothing", `{"a":1}`}, {"yorkie-meta.changes", `{"doc_id":{"$gt":1}}`}, {"yorkie-meta.changes",
			`{"a":1}`}, {"yorkie-meta.changes", `{`}, {"yorkie-meta.changes", ``},
	} {
		address := "/api/v1/locate?" + url.Values{"ns": {q[0]}, "key": {q[1]}}.Encode()
		same := webtest.Header("X-Request-ID", "same")
		quick, general := s.Do("GET", address, same), s.Do("GET", address+"&any=1", same)
		expect.That(t, quick.Code >= 400 && quick.Code <= 499 && quick.Body.String() == general.Body.String(),
			"%s: %d %s\ngeneral: %d %s", address, quick.Code, quick.Body, general.Code, general.Body)
	}
}

func TestKeyAnswerIsCSVWhenAskedFor(t *testing.T) {
	s := keySite(t)
	w := s.Do("GET", keyAddress(1), webtest.Header("Accept", site.MediaCSV))
	expect.That(t, w.Code == http.StatusOK && w.Header().Get("Content-Type") != locating.JSONType[0],
		"%d %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
}

// secret has the shape of a project's key.
const secret = "mBhLWpJwJ5Gq4mD2VRhYvK"

func formPost(values url.Values) []func(*http.Request) {
	return []func(*http.Request){webtest.Header("Content-Type", "application/x-www-form-urlencoded"), webtest.Body(values.Encode())}
}

func TestManyLinesHaveAPageAndCSV(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	lines := "p/d\r\n\r\nbad one\r\n=HYPERLINK(\"x\")\r\n<script>alert(1)</script>\r\n"
	page := s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {lines}})...)
	html := page.Body.String()
	if page.Code != 200 || !strings.Contains(html, "3 of 4 lines") || !strings.Contains(html, "Nothing is called &#34;bad one&#34;") ||
		strings.Contains(html, "<script>alert") {
		t.Errorf("%d %s", page.Code, html)
	}
	sheet := s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {lines}, "as": {"csv"}})...)
	rows, err := csv.NewReader(sheet.Body).ReadAll()
	if err != nil || sheet.Code != 200 || !strings.HasPrefix(sheet.Header().Get("Content-Type"), "text/csv") || len(rows) != 1+3*3+1 {
		t.Fatalf("%d %v %d rows", sheet.Code, err, len(rows))
	}
	for _, row := range rows {
		for _, cell := range row {
			expect.That(t, !strings.HasPrefix(cell, "="), "a formula: %q", cell)
		}
	}
	for what, values := range map[string]url.Values{"empty": {}, "blank": {"lines": {" \n \n"}},
		"many": {"lines": {strings.Repeat("x\n", 1001)}}, "NUL": {"lines": {"a\x00b"}}, "long": {"lines": {strings.Repeat("x", 5000)}},
		"not UTF-8": {"lines": {"\xff"}}} {
		w := s.Do("POST", "/locate/bulk", formPost(values)...)
		expect.That(t, w.Code == 400 && strings.Contains(w.Body.String(), `role="alert"`) && !strings.Contains(w.Body.String(), "\x00"),
			"%s: %d", what, w.Code)
	}
	w := s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "text/plain"), webtest.Body("lines=x"))
	expect.Equal(t, w.Code, 415, "another type")
	w = s.Do("POST", "/locate/bulk",
		append(formPost(url.Values{"lines": {"p"}}), webtest.Header("Sec-Fetch-Site", "cross-site"))...)
	expect.Equal(t, w.Code, 403, "another site's form")
	w = s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {strings.Repeat("x", 300<<10)}})...)
	expect.Equal(t, w.Code, 413, "too much")
}

func TestWhatLooksLikeASecretKeyIsNotRepeated(t *testing.T) {
	s := webtest.New(t)
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) {
		return nil, fault.New(fault.NotFound, "No project has this public key. If it was a secret key, rotate it.")
	}
	page := s.Do("GET", "/locate?q="+secret).Body.String()
	n := strings.Count(page, secret)
	expect.That(t, n == 1 && strings.Contains(page, `value="`+secret), "the page has it %d times", n)
	bulk := s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {"API-Key " + secret}})...).Body.String()
	n = strings.Count(bulk, secret)
	expect.That(t, n == 1, "the bulk page has it %d times", n)
	answers := []string{
		s.Do("GET", "/api/v1/locate?q="+secret).Body.String(),
		s.Do("POST", "/api/v1/locate", webtest.Body(secret+"\n"+secret+"/d\nkey="+secret)).Body.String(),
		s.Do("POST", "/api/v1/locate", webtest.Header("Accept", "text/csv"), webtest.Body(secret)).Body.String(),
		s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {secret}, "as": {"csv"}})...).Body.String(),
		s.Log.String(),
	}
	for i, a := range answers {
		expect.That(t, !strings.Contains(a, secret) && a != "", "answer %d: %s", i, a)
	}
}

func TestALocateAnswerSaysHowItWasReadAndWhatItCost(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	got := webtest.Decode[api.LocateAnswer](t,
		s.Do("GET", "/api/v1/locate?q="+url.QueryEscape("https://x.example/projects/app/documents/k%2F1")))
	if len(got.Items) != 1 || len(got.Input) != 1 || got.Input[0] != (api.Reading{Form: "dashboard", Project: "app", Key: "k/1"}) ||
		got.Cost.Targeted != 1 {
		t.Errorf("%+v", got)
	}
	page := s.Do("GET", "/locate?q=app/doc").Body.String()
	expect.Contains(t, page, "Read as project/document key. Cost: 1 targeted query, 0 to all shards.", "the text")
}
