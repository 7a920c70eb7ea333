package writes

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func TestHeatHeadlineNamesTheTimeThatWasCounted(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := HeatQuery{NS: "db.c", Window: 5 * time.Minute}
	for counted, want := range map[time.Duration]string{
		5 * time.Minute: "over 5 min", 5*time.Minute - heat.Shortest: "over 5 min", 2 * time.Minute: "over 2 min", 30 * time.Second: "over 30 s",
	} {
		w := heat.Window{NS: q.NS, From: end.Add(-counted), To: end, Total: heat.Rate{Rows: 10, PerSecond: 1}}
		expect.Contains(t, heatLead(q, w, nil).String(), want, "%v counted", counted)
	}
}

func TestWhatASplitDoesIsSaidInTheProfilesWords(t *testing.T) {
	shop := &profile.Profile{Tenants: profile.Called{One: "Tenant", Many: "Tenants"}, Called: profile.Called{One: "Item", Many: "Items"}}
	for code, want := range map[string]string{
		"project":  "come from one tenant, ",
		"projects": "between tenants ",
		"divides":  "its busiest item takes",
	} {
		got := SplitText(answer.View{Profile: shop}, &topology.Collection{}, heat.Splitting{Code: code}).String()
		expect.That(t, strings.Contains(got, want), "%s: %q, want …%q…", code, got, want)
	}
	changed := heat.Window{NS: "db.c", Method: heat.ChangedRows}
	s := noWrites(answer.View{Profile: shop}, changed)
	expect.Lacks(t, hottestOnly(answer.View{Profile: shop}, changed)+s.Detail, "project", "the text")
}
