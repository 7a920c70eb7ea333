package activity_test

import (
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

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
		expect.That(t, got.ReadFrom != nil && got.ReadFrom.Equal(oldest), "%s were read from %v, want %v", path, got.ReadFrom, oldest)
	}
}
