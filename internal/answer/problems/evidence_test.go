package problems_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	msg "shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/web/webtest"
)

func TestEvidenceTellsWhichPartOfItsWindowWasCounted(t *testing.T) {
	v := answer.View{Now: webtest.Epoch}
	e := rules.Evidence{Name: msg.New("hot.share", "Share of the writes to {ns}", msg.Namespace("ns", "y.changes")),
		Unit: "share", Known: true, Value: 1, Method: "writes", At: webtest.Epoch, Over: rules.Window, Covered: 2 * time.Minute}
	if got := problems.EvidenceOf(v, e); got.Covered != 120 || got.Window != "5m0s" {
		t.Errorf("%+v", got)
	}
	part := problems.EvidenceOf(v, e).How.String()
	e.Covered = e.Over
	if whole := problems.EvidenceOf(v, e).How.String(); !strings.Contains(part, "2 min of the last 5 min counted") ||
		strings.Contains(whole, " of the last ") {
		t.Errorf("%q, whole %q", part, whole)
	}
}
