package activity_test

import (
	"net/http"
	"strconv"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/webtest"
)

func TestActivityIsPagedByEntry(t *testing.T) {
	s := webtest.New(t)
	var ids []string
	cursor := ""
	for {
		page := webtest.Decode[api.List[api.Event]](t, s.Do("GET", "/api/v1/activity?what=split&limit=40&cursor="+cursor))
		for _, e := range page.Items {
			if e.What != "split" {
				t.Errorf("%+v", e)
			}
			ids = append(ids, e.ID)
		}
		if cursor = string(page.Next); cursor == "" {
			break
		}
	}
	if len(ids) != 150 {
		t.Errorf("%d entries", len(ids))
	}
	if got := webtest.Decode[api.List[api.Event]](t,
		s.Do("GET", "/api/v1/activity?what=moveChunk.&limit=1")); got.Items[0].What != "moveChunk.commit" {
		t.Errorf("%+v", got)
	}
	if w := s.Do("GET", "/api/v1/activity?cursor="+string(answer.CursorOf("gone"))); w.Code != http.StatusBadRequest {
		t.Errorf("no cursor of this list: %d", w.Code)
	}
	all := webtest.Decode[api.List[api.Event]](t, s.Do("GET", "/api/v1/activity?what=split&limit=100"))
	// An entry that is no longer kept has its place in the order all the same.
	gone := answer.CursorOf(strconv.FormatInt(all.Items[39].Time.UnixMilli(), 10) + "." + all.Items[39].ID + "-")
	next := s.Do("GET", "/api/v1/activity?what=split&cursor="+string(gone))
	if got := webtest.Decode[api.List[api.Event]](t, next); got.Items[0].ID != all.Items[39].ID {
		t.Errorf("after the entry that is gone comes %s, want %s", got.Items[0].ID, all.Items[39].ID)
	}
}
