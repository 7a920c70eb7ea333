package locate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
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
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Items) != 1 || len(got.Items[0].Places) != 3 {
		t.Fatalf("%v %s", err, w.Body)
	}
	it := got.Items[0]
	if it.Kind != "document" || it.ID != webtest.ProjectID(1).Hex() || it.Project != webtest.ProjectID(5).Hex() {
		t.Errorf("%+v", it)
	}
	first, _ := json.Marshal(it.Places[0]["min"])
	if p := it.Places[0]; p["ns"] != "yorkie-meta.documents" || p["shard"] != "shard-rs-2" || p["hash"] != "-4611686018427387905" ||
		p["exists"] != true ||
		string(first) != fmt.Sprintf(`{"project_id":{"$oid":%q}}`, webtest.ProjectID(5).Hex()) {
		t.Errorf("%v", p)
	}
	if p := it.Places[1]; p["shard"] != "" || p["exists"] != nil || p["hash"] != nil || p["min"] != nil {
		t.Errorf("%v", p)
	}
	if it.Places[2]["exists"] != false {
		t.Errorf("%v", it.Places[2])
	}
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
		if len(got.Items) != 1000 {
			t.Fatalf("%d lines", len(got.Items))
		}
		for i, line := range got.Items {
			if line.Line != i+1 || line.Query != lines[i] || (line.Problem == nil) != (i%2 == 0) || len(line.Items) != 1-i%2 {
				t.Fatalf("line %d: %+v", i, line)
			}
		}
	}
	if most > locating.LocateWorkers {
		t.Errorf("%d at a time", most)
	}
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
	if len(got.Items) != 3 || got.Items[0].Problem != nil || got.Items[1].Problem == nil || got.Items[1].Problem.Status != 500 ||
		got.Items[2].Problem != nil {
		t.Errorf("%+v", got)
	}
}
