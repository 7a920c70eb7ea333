package writes

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/heat"
)

func TestHeatHeadlineNamesTheTimeThatWasCounted(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := HeatQuery{NS: "db.c", Window: 5 * time.Minute}
	for counted, want := range map[time.Duration]string{
		5 * time.Minute: "over 5 min", 5*time.Minute - heat.Shortest: "over 5 min", 2 * time.Minute: "over 2 min", 30 * time.Second: "over 30 s",
	} {
		w := heat.Window{NS: q.NS, From: end.Add(-counted), To: end, Total: heat.Rate{Rows: 10, PerSecond: 1}}
		if got := heatLead(q, w, nil).String(); !strings.Contains(got, want) {
			t.Errorf("%v counted: %s", counted, got)
		}
	}
}
