package projects_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer/spread"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/web/webtest"
)

func TestProjectAnswerSaysWhereInSentences(t *testing.T) {
	v := webtest.NewStory().View()
	p := profile.Yorkie()
	m := spread.Project(v, p, placement.SpreadOf(v.Table, p, v.Dir.All()[3]))
	for _, want := range []string{"documents",
		"Spread by document over shard-rs-1, shard-rs-2 and shard-rs-3: changes, snapshots",
		"Not sharded, on shard-rs-1: snapshot_bodies."} {
		expect.That(t, strings.Contains(m.Answer, want), "%q lacks %q", m.Answer, want)
	}
	expect.That(t, len(m.Verdicts) >= 3 && m.Verdicts[0].Pin.Can && m.Verdicts[0].Pin.Why != "", "verdicts %+v", m.Verdicts)
}

func TestWhatIsSaidOfATenantIsInTheProfilesWords(t *testing.T) {
	v := webtest.NewStory().View()
	shop := *profile.Yorkie()
	shop.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	v.Profile = &shop
	m := spread.Project(v, &shop, placement.SpreadOf(v.Table, &shop, v.Dir.All()[3]))
	said := m.Answer
	for _, c := range m.Collections {
		said += " " + c.BasisText + " " + c.Pin.Why + " " + c.Split.Why
	}
	for _, x := range m.Verdicts {
		said += " " + x.Pin.Why + " " + x.Split.Why
	}
	if !strings.Contains(said, "The shard key begins with the tenant.") || strings.Contains(said, "project") {
		t.Error(said)
	}
}
