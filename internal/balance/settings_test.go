package balance

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func setting(t *testing.T, json string) bson.Raw {
	t.Helper()
	var doc bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(json), false, &doc); err != nil {
		t.Fatal(json, err)
	}
	return doc
}

// Each value counts as in the server of the release: read, refused, or not looked at.
func TestSettingsAreReadAsTheReleaseReadsThem(t *testing.T) {
	for _, c := range []struct {
		release, row string
		refused      string // name of the field
		unread       string
		moves        bool
		when         string
	}{
		{"5.0.7", `{"_id": "balancer"}`, "", "", true, ""},
		{"5.0.7", `{"_id": "balancer", "stopped": 1}`, "", "", false, ""},
		{"5.0.7", `{"_id": "balancer", "stopped": "true"}`, "balancer.stopped", "", false, ""},
		{"5.0.7", `{"_id": "balancer", "stopped": null}`, "balancer.stopped", "", false, ""},
		{"8.3.0", `{"_id": "balancer", "stopped": null}`, "", "", true, ""},
		{"5.0.7", `{"_id": "balancer", "stopped": true, "mode": "turbo"}`, "", "", false, ""},
		{"8.3.0", `{"_id": "balancer", "stopped": true, "mode": "turbo"}`, "balancer.mode", "", false, ""},
		{"8.0.0", `{"_id": "balancer", "mode": "autoSplitOnly"}`, "balancer.mode", "", false, ""},
		{"6.0.0", `{"_id": "balancer", "mode": "autoSplitOnly"}`, "", "", false, ""},
		{"4.4.0", `{"_id": "balancer", "activeWindow": {"start": "1:5", "stop": "23:59 h"}}`, "", "", true, "from 1:5 to 23:59 h"},
		{"4.4.0", `{"_id": "balancer", "activeWindow": {"start": "01:00"}}`, "balancer.activeWindow", "", false, ""},
		{"4.4.0", `{"_id": "balancer", "activeWindow": {"start": "25:00", "stop": "05:00"}}`, "balancer.activeWindow", "", false, ""},
		{"4.4.0", `{"_id": "balancer", "activeWindow": {"start": "05:00", "stop": "5:0"}}`, "balancer.activeWindow", "", false, ""},
		{"8.3.0", `{"_id": "balancer", "activeWindow": {"start": "25:00", "stop": "05:00"},
			"activeWindowDOW": [{"day": "Monday", "start": "1:00", "stop": "2:00"}]}`, "", "", true, "on Monday from 1:00 to 2:00"},
		{"8.3.0", `{"_id": "balancer", "activeWindowDOW": [{"day": "monday", "start": "1:00", "stop": "2:00"}]}`,
			"balancer.activeWindowDOW", "", false, ""},
		{"8.3.0", `{"_id": "balancer", "activeWindowDOW": [], "activeWindow": {"start": "1:00", "stop": "2:00"}}`, "", "", true, "from 1:00 to 2:00"},
		{"8.0.0", `{"_id": "balancer", "activeWindowDOW": [{"day": "Monday", "start": "1:00", "stop": "2:00"}]}`,
			"", "balancer.activeWindowDOW", true, ""},
		{"8.0.0", `{"_id": "balancer", "_secondaryThrottle": "w", "color": 1}`, "balancer._secondaryThrottle", "balancer.color", false, ""},
		{"8.0.0", `{"_id": "chunksize", "value": 0}`, "chunksize.value", "", false, ""},
		{"8.0.0", `{"_id": "chunksize", "value": 64.5}`, "chunksize.value", "", false, ""},
		{"8.0.0", `{"_id": "chunksize", "value": 64.0}`, "", "", true, ""},
		{"7.0.0", `{"_id": "automerge", "enabled": 0}`, "automerge.enabled", "", false, ""},
		{"6.0.0", `{"_id": "automerge", "enabled": 0}`, "", "automerge.enabled", true, ""},
		{"6.0.0", `{"_id": "autosplit"}`, "autosplit.enabled", "", false, ""},
		{"8.0.0", `{"_id": "autosplit"}`, "", "", true, ""},
		{"8.0.0", `{"_id": "audit", "auditAuthorizationSuccess": true}`, "", "", true, ""},
		{"8.0.0", `{"_id": 7}`, "", `{"$numberInt":"7"}`, true, ""},
	} {
		b := ReadSettings([]bson.Raw{setting(t, c.row)}, ReleaseOf(c.release))
		var refused []string
		for _, r := range b.Refused {
			refused = append(refused, r.Name())
		}
		expect.Equal(t, strings.Join(refused, ","), c.refused, "%s %s: refused", c.release, c.row)
		expect.Equal(t, strings.Join(b.Unread, ","), c.unread, "%s %s: unread", c.release, c.row)
		if b.Moves() != c.moves || b.When() != c.when {
			t.Errorf("%s %s: moves %t, window %q", c.release, c.row, b.Moves(), b.When())
		}
	}
	b := ReadSettings([]bson.Raw{setting(t, `{"_id": "automerge", "enabled": false}`), setting(t, `{"_id": "balancer",
		"attemptToBalanceJumboChunks": true, "_waitForDelete": true, "_secondaryThrottle": {"w": 2}}`)}, ReleaseOf("7.0.0"))
	expect.That(t, b.AutoMergeOff && b.ForceJumbo && b.WaitForDelete && b.SecondaryThrottle != "", "%+v", b)
}

// 2026-03-02 is a Monday. Both ends are included; a window by day that ends before it begins is open at both ends of
// its day.
func TestWindowsByDayAreOpenOnTheirDay(t *testing.T) {
	b := topology.Balancer{Known: true, Mode: "full", WindowStart: "00:00", WindowStop: "23:59", Days: []topology.DayWindow{
		{Day: time.Monday, Start: "22:00", Stop: "02:00"}, {Day: time.Wednesday, Start: "9:00", Stop: "10:00"}}}
	for at, want := range map[string]bool{"2026-03-02T01:59": true, "2026-03-02T02:01": false, "2026-03-02T23:00": true,
		"2026-03-03T01:00": false, "2026-03-04T10:00": true, "2026-03-05T09:30": false} {
		now, err := time.Parse("2006-01-02T15:04", at)
		if err != nil || b.OpenAt(now) != want {
			t.Errorf("%s: open %t, %v", at, b.OpenAt(now), err)
		}
	}
	if days, ok := topology.ParseDays(topology.DaysText(b.Days)); !ok || topology.DaysText(days) != topology.DaysText(b.Days) {
		t.Errorf("%v %t", days, ok)
	}
}
