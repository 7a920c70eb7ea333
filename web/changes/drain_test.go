package changes_test

import (
	"strings"
	"testing"

	"shardboard/web/webtest"
)

func TestRunOfADrainSaysThatStopDoesNotEndIt(t *testing.T) {
	for version, want := range map[string]string{
		"8.0.13": "Ending a draining needs MongoDB 8.3.",
		"8.3.0":  "kind=stop-draining&amp;shard=shard-rs-2",
	} {
		s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
			webtest.WithActions(webtest.WithBigRuns(webtest.CannedActions())))
		table := webtest.CannedTable(1, 250)
		webtest.Draining(table)
		table.ServerInfo.Version = version
		s.Watcher.Publish(table)
		page := s.Do("GET", "/runs/"+webtest.RecordID(webtest.DrainingRun)).Body.String()
		if !strings.Contains(page, "shard-rs-2 keeps draining until it is empty") || !strings.Contains(page, want) {
			t.Errorf("%s: the page of the run lacks %q", version, want)
		}
	}
}
