package projects_test

import (
	"slices"
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

// From 8.0 on what is not sharded can be on several shards.
func TestProjectAnswerSaysWhichUnshardedCollectionIsWhere(t *testing.T) {
	v := webtest.NewStory().View()
	p := profile.Yorkie()
	s := placement.SpreadOf(v.Table, p, v.Dir.All()[3])
	i := slices.IndexFunc(s.Collections, func(c placement.CollectionSpread) bool { return c.NS.Collection() == "schemas" })
	s.Collections[i].Basis = placement.BasisTracked
	s.Collections[i].Shards = []placement.ShardPart{{Shard: "shard-rs-2", Share: 1}}
	said := spread.Project(v, p, s).Answer
	for _, want := range []string{"Not sharded, on shard-rs-1: snapshot_bodies.", "Not sharded, on shard-rs-2: schemas."} {
		expect.That(t, strings.Contains(said, want), "%q lacks %q", said, want)
	}
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
