package collections_test

import (
	"encoding/csv"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/api"
	"shardboard/internal/sheet"
	"shardboard/web/webtest"
)

func TestCollectionsAreOneTableForPageJSONAndCSV(t *testing.T) {
	s := webtest.New(t)
	list := webtest.Decode[api.List[api.Collection]](t, s.Do("GET", "/api/v1/collections?limit=1000"))
	want := map[string]string{}
	for _, c := range list.Items {
		for _, p := range c.Shards {
			bytes := ""
			if p.Bytes.Value != nil {
				bytes = strconv.FormatInt(*p.Bytes.Value, 10)
			}
			want[sheet.Inert(c.NS)+" "+sheet.Inert(p.Shard)] = strings.Join(
				[]string{strconv.FormatBool(c.Sharded), strconv.FormatBool(c.System), strconv.Itoa(p.Chunks), strconv.Itoa(c.Chunks), bytes},
				" ",
			)
		}
	}
	for _, w := range []*httptest.ResponseRecorder{s.Do("GET", "/collections.csv"),
		s.Do("GET", "/api/v1/collections?limit=1", webtest.Header("Accept", "text/csv"))} {
		rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
		if err != nil || w.Code != 200 || w.Header().Get("Content-Disposition") != `attachment; filename="collections.csv"` {
			t.Fatalf("%d %v %v", w.Code, w.Header(), err)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		got := map[string]string{}
		for _, row := range rows[1:] {
			cell := func(name string) string { return row[column[name]] }
			got[cell("ns")+" "+cell("shards.shard")] = strings.Join(
				[]string{cell("sharded"), cell("system"), cell("shards.chunks"), cell("chunks"), cell("shards.bytes")},
				" ",
			)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 {
			t.Errorf("%d lines: %s", len(want), diff)
		}
	}
	for _, row := range strings.Split(s.Do("GET", "/collections.csv?db=none").Body.String(), "\n")[1:] {
		if row != "" {
			t.Errorf("another database: %s", row)
		}
	}
}

func TestAPageOfAMalformedNameIsNotFound(t *testing.T) {
	s := webtest.New(t)
	for _, name := range []string{"zz", "a.", ".a", "no.such"} {
		if w := s.Do("GET", "/collections/"+name); w.Code != 404 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := s.Do("GET", "/api/v1/collections/zz"); w.Code != 400 {
		t.Errorf("JSON: %d", w.Code)
	}
}
