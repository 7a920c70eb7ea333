package activity_test

import (
	"net/http"
	"strconv"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestActivityGoesOnAfterAnEntryThatIsNotKeptAnyMore(t *testing.T) {
	s := webtest.New(t)
	w := s.Do("GET", "/api/v1/activity?cursor="+string(answer.CursorOf("gone")))
	expect.Equal(t, w.Code, http.StatusBadRequest, "no cursor of this list")
	all := webtest.Decode[api.List[api.Event]](t, s.Do("GET", "/api/v1/activity?what=split&limit=100"))
	gone := answer.CursorOf(strconv.FormatInt(all.Items[39].Time.UnixMilli(), 10) + "." + all.Items[39].ID + "-")
	next := s.Do("GET", "/api/v1/activity?what=split&cursor="+string(gone))
	if got := webtest.Decode[api.List[api.Event]](t, next); got.Items[0].ID != all.Items[39].ID {
		t.Errorf("after the entry that is gone comes %s, want %s", got.Items[0].ID, all.Items[39].ID)
	}
}
