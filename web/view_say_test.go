package web

import (
	"strings"
	"testing"

	"shardboard/internal/actions"
)

func TestAPlanSpeaksInWordsNotInCodes(t *testing.T) {
	got := say("check", actions.Say{Code: "size.tooBig", Args: map[string]string{
		"ns": "db.<b>", "min": "{p: 1}", "bytes": "3221225472", "limit": "268435456", "remedy": "refine"}})
	for _, want := range []string{"db.<b>", "{p: 1}", "3", "256", "refineCollectionShardKey"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "3221225472") {
		t.Errorf("bytes are not told as people do: %q", got)
	}
	if got := say("source", actions.Say{Code: "table", Args: map[string]string{"part": "routing", "at": "2026-05-01T12:00:00Z"}}); !strings.Contains(got, "2026-05-01 12:00:00") || strings.Contains(got, "{part}") {
		t.Errorf("%q", got)
	}
	if got := say("plan", actions.Say{Code: "brand-new"}); !strings.Contains(got, "brand-new") {
		t.Errorf("an unknown code is lost: %q", got)
	}
	if got := say("check", actions.Say{Code: "check.activityKnown"}); got != say("check", actions.Say{Code: "activityKnown"}) {
		t.Errorf("%q", got)
	}
	if got := say("run", actions.Say{}); got != "" {
		t.Errorf("nothing is said as %q", got)
	}
}
