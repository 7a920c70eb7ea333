package site_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
)

func TestLongListsEndWithWhereTheyGoOn(t *testing.T) {
	type number struct {
		N int `json:"n"`
	}
	endless := func(_ *site.Site, r *http.Request) (api.List[number], error) {
		var out api.List[number]
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
		for i := range limit {
			out.Items = append(out.Items, number{from + i})
		}
		out.Next = api.Cursor(strconv.Itoa(from + limit))
		return out, err
	}
	routes := site.Table(site.Asked(site.Route{Pattern: "/numbers"}, endless))
	r, w := httptest.NewRequest("GET", "/api/v1/numbers?of=x&cursor=7&limit=2", nil), httptest.NewRecorder()
	r.Header.Set("Accept", "text/csv")
	must.Do(t, routes[0].Handler(&site.Site{}, w, r))
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	if err != nil || len(rows) != 100_002 || rows[1][0] != "7" || rows[100_000][0] != "100006" {
		t.Fatalf("%d rows, the first %v: %v", len(rows), rows[1], err)
	}
	rest := "?cursor=100007&of=x"
	last := rows[len(rows)-1][0]
	expect.That(t, strings.HasSuffix(last, rest), "the last line is %q", last)
	expect.Equal(t, w.Header().Get("Link"), fmt.Sprintf(`<%s>; rel="next"`, rest), "Link")
}
