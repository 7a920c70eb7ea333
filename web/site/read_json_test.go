package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestDuplicateKeysOfAnObjectAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`{"to":"a","to":"b"}`: "to", `{"args":{"to":"a","To":"b"}}`: "To", `{"args":{"at":{"a":1,"b":[{"c":1,"c":2}]}}}`: "c", `{"Args":{"to":1},"args":{}}`: "args",
		`{"ARGS":{"to":1,"TO":2}}`: "TO", `[{"a":1,"a":1}]`: "a", `{"a":{"x":1},"b":{"x":1},"c":["x","x"],"x":"a"}`: "",
		`{"args":{"at":{"a":1,"A":2}}}`: "", `{"from":{"db.a":"x","db.A":"x"}}`: "", `{}`: "", `[]`: "", `1`: "", ``: "", `{"a":"a","b":"b"}`: "", `{"a":null,"b":[[],{}],"c":1}`: "",
	} {
		name, twice := site.TwiceNamed([]byte(text))
		expect.That(t, name == want && twice == (want != ""), "%s: %q %v, want %q", text, name, twice, want)
	}
}

func TestBodyWithDuplicateKeysIsRefused(t *testing.T) {
	s := webtest.New(t)
	for _, text := range []string{
		`{"kind":"move","args":{"ns":"yorkie-meta.changes","to":"shard-rs-3","to":"shard-rs-2"},"reason":"x"}`,
		`{"kind":"move","kind":"split","args":{},"reason":"x"}`,
	} {
		w := s.Do("POST", "/api/v1/plans", webtest.Header("Content-Type", "application/json"), webtest.Body(text))
		expect.That(t, w.Code == 400 && strings.Contains(w.Body.String(), "twice"), "%s: %d %s", text, w.Code, w.Body)
	}
	w := s.Do("POST", "/api/v1/plans", webtest.Header("Content-Type", "application/json"),
		webtest.Body(`{"kind":"move","args":{"ns":"yorkie-meta.changes","to":"shard-rs-3"},"reason":"x"}`))
	expect.That(t, w.Code == 201, "%d %s", w.Code, w.Body)
}

func TestARefusedBodyNamesWhatIsWrongInIt(t *testing.T) {
	for body, says := range map[string]string{
		`{"hash":"a","acknowledged":true}`: `the field "acknowledged"`,
		`{"hash":7}`:                       "hash cannot be a JSON number",
		`["a"]`:                            "the whole cannot be a JSON array",
		`{"hash"`:                          "not the JSON",
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		var into struct {
			Hash string `json:"hash"`
		}
		if err := site.ReadJSON(r, &into); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), says) {
			t.Errorf("%s: %v, want %q", body, err, says)
		}
	}
}

func TestBodiesAreTextWithoutNUL(t *testing.T) {
	for body, want := range map[string]bool{
		`{"reason":"fine ü"}`:                      true,
		`{"reason":"a\u0000b"}`:                    false,
		"{\"reason\":\"a\xffb\"}":                  false,
		`{"args":{"at":{"name":"a\u0000b"}}}`:      true, // a key of a document
		"{\"args\":{\"at\":{\"name\":\"a\xff\"}}}": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		var into map[string]any
		err := site.ReadJSON(r, &into)
		expect.That(t, (err == nil) == want && (err == nil || fault.Of(err) == fault.Invalid), "%q: %v", body, err)
	}
	for body, want := range map[string]bool{"a=1&b=%C3%BC": true, "a=%00": false, "a=%FF": false, "a%00=1": false} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		err := site.ParseForm(r)
		expect.That(t, (err == nil) == want && (err == nil || fault.Of(err) == fault.Invalid), "%q: %v", body, err)
	}
}
