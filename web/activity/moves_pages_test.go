package activity_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestMovesArePagedToTheirEnd(t *testing.T) {
	var events []topology.Event
	s := webtest.New(t)
	table := *s.Watcher.Get()
	for i := range 40 { // five of them in the same millisecond
		begin := webtest.Epoch.Add(-time.Duration(i/5+1) * time.Minute)
		events = append(events, webtest.FailedAttempt(t, &table, i%7, begin, fmt.Sprintf("reason %d", i))...)
	}
	table.Events = events
	s.Watcher.Publish(&table)
	all := webtest.Decode[api.LoggedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations?limit=1000"))
	if len(all.Items) < 8 || all.Next != "" || all.ReadFrom != nil {
		t.Fatalf("%d moves, next %q, read from %v", len(all.Items), all.Next, all.ReadFrom)
	}
	for limit := 1; limit < 9; limit++ {
		var got []string
		for cursor, pages := "", 0; pages < 100; pages++ {
			page := webtest.Decode[api.LoggedList[api.Migration]](t,
				s.Do("GET", fmt.Sprintf("/api/v1/activity/migrations?limit=%d&cursor=%s", limit, cursor)))
			for _, m := range page.Items {
				got = append(got, fmt.Sprint(m.Begin, m.Min, m.Reason))
			}
			if cursor = string(page.Next); cursor == "" {
				break
			}
		}
		if len(got) != len(all.Items) {
			t.Fatalf("limit %d: %d moves of %d", limit, len(got), len(all.Items))
		}
		for i, m := range all.Items {
			if want := fmt.Sprint(m.Begin, m.Min, m.Reason); got[i] != want {
				t.Errorf("limit %d: move %d is %s, want %s", limit, i, got[i], want)
			}
		}
	}
	if code := s.Do("GET", "/api/v1/activity/migrations?cursor=eA").Code; code != http.StatusBadRequest {
		t.Errorf("a foreign cursor: %d", code)
	}
}

func TestMovesSayHowFarBackTheChangelogWasRead(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Events = nil
	for i := range 500 {
		table.Events = append(table.Events, webtest.FailedAttempt(t, &table, i%7, webtest.Epoch.Add(-time.Duration(i+1)*time.Minute), "")...)
	}
	oldest := table.Events[len(table.Events)-1].Time
	s.Watcher.Publish(&table)
	for _, path := range []string{"migrations", "failures"} {
		got := webtest.Decode[api.LoggedList[struct{}]](t, s.Do("GET", "/api/v1/activity/"+path))
		if got.ReadFrom == nil || !got.ReadFrom.Equal(oldest) {
			t.Errorf("%s were read from %v, want %v", path, got.ReadFrom, oldest)
		}
	}
}
