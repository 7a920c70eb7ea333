package lab_test

import (
	"net/http"
	"testing"

	"shardboard/internal/api"
	"shardboard/web/webtest"
)

func TestThePageOfIDsShowsWhatTheAnswerHas(t *testing.T) {
	s := webtest.New(t)
	a := webtest.Decode[api.LabIDs](t, s.Do("GET", "/api/v1/lab/ids?shards=5"))
	doc := page(t, s, a.URL, http.StatusOK)
	if len(a.Items) != 5 || doc.Find("svg.lab-picture").Length() != 5 || a.Inputs.Shards != 5 {
		t.Fatalf("%d forms, %d pictures", len(a.Items), doc.Find("svg.lab-picture").Length())
	}
	for _, p := range a.Items {
		row := doc.Find(`#lab-ids tr[data-key="` + p.Form + `"]`)
		if row.Find("td").First().Text() != p.Text || row.Find("th").Text() == "" {
			t.Errorf("%s: %q", p.Form, row.Text())
		}
	}
	bad := page(t, s, "/lab/ids?each=0", http.StatusBadRequest)
	if got := bad.Find(`[role="alert"]`).Text(); got != `each must be a number from 1 to 60, not "0".` {
		t.Errorf("a wrong input is said as %q", got)
	}
	if in := bad.Find(`input[name="each"]`); in.AttrOr("value", "") != "0" {
		t.Errorf("the form has %q again", in.AttrOr("value", ""))
	}
}
