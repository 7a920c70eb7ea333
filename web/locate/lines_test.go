package locate_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

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
			if strings.HasPrefix(cell, "=") {
				t.Errorf("a formula: %q", cell)
			}
		}
	}
	for what, values := range map[string]url.Values{"empty": {}, "blank": {"lines": {" \n \n"}},
		"many": {"lines": {strings.Repeat("x\n", 1001)}}, "NUL": {"lines": {"a\x00b"}}, "long": {"lines": {strings.Repeat("x", 5000)}},
		"not UTF-8": {"lines": {"\xff"}}} {
		w := s.Do("POST", "/locate/bulk", formPost(values)...)
		if w.Code != 400 || !strings.Contains(w.Body.String(), `role="alert"`) || strings.Contains(w.Body.String(), "\x00") {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
	if w := s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "text/plain"), webtest.Body("lines=x")); w.Code != 415 {
		t.Errorf("another type: %d", w.Code)
	}
	if w := s.Do("POST", "/locate/bulk",
		append(formPost(url.Values{"lines": {"p"}}), webtest.Header("Sec-Fetch-Site", "cross-site"))...); w.Code != 403 {
		t.Errorf("another site's form: %d", w.Code)
	}
	if w := s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {strings.Repeat("x", 300<<10)}})...); w.Code != 413 {
		t.Errorf("too much: %d", w.Code)
	}
}

func TestWhatLooksLikeASecretKeyIsNotRepeated(t *testing.T) {
	s := webtest.New(t)
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) {
		return nil, fault.New(fault.NotFound, "No project has this public key. If it was a secret key, rotate it.")
	}
	page := s.Do("GET", "/locate?q="+secret).Body.String()
	if n := strings.Count(page, secret); n != 1 || !strings.Contains(page, `value="`+secret) {
		t.Errorf("the page has it %d times", n)
	}
	bulk := s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {"API-Key " + secret}})...).Body.String()
	if n := strings.Count(bulk, secret); n != 1 {
		t.Errorf("the bulk page has it %d times", n)
	}
	answers := []string{
		s.Do("GET", "/api/v1/locate?q="+secret).Body.String(),
		s.Do("POST", "/api/v1/locate", webtest.Body(secret+"\n"+secret+"/d\nkey="+secret)).Body.String(),
		s.Do("POST", "/api/v1/locate", webtest.Header("Accept", "text/csv"), webtest.Body(secret)).Body.String(),
		s.Do("POST", "/locate/bulk", formPost(url.Values{"lines": {secret}, "as": {"csv"}})...).Body.String(),
		s.Log.String(),
	}
	for i, a := range answers {
		if strings.Contains(a, secret) || a == "" {
			t.Errorf("answer %d: %s", i, a)
		}
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
	if !strings.Contains(page, "Read as project/document key. Cost: 1 targeted query, 0 to all shards.") {
		t.Errorf("%s", page)
	}
}
