package answer_test

import (
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/answer/logbook"
	"shardboard/internal/history"
	"shardboard/web/webtest"
)

func TestEveryReasonHasWords(t *testing.T) {
	for i, text := range []string{"", "x", webtest.OrphansReason, "LockBusy", "ChunkTooBig", "E11000", "Location51008", "stepped down",
		"not authorized", "is not in the correct zone", "is currently draining",
		"undergoing changes and chunks cannot be moved", "no chunk was found", "StaleConfig", "ShardNotFound", "missing indexes",
		"ExceededMemoryLimit", "WriteConcern", "No space left", "HostUnreachable", "timed out", "Interrupted",
		"currently donating chunk"} {
		r := eventReason(text)
		if got := logbook.FailureAdvice(r); strings.Contains(got, "[") || (strings.Contains(got, "does not know this reason") != (text == "x")) ||
			len(got) < 20 {
			t.Error(strconv.Itoa(i), text, got)
		}
	}
}

func eventReason(text string) history.Code { return history.CodeOf(text) }
