package offering_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

// A window is chosen in the form, so that the one that is set does not stand in the way.
func TestAChangeWhoseArgumentsAreChosenInTheFormIsAlwaysOffered(t *testing.T) {
	tried := map[actions.Kind]bool{}
	o := &offering.Offers{Table: &topology.Table{Loaded: true, Balancer: topology.Balancer{Known: true, Mode: "full"}},
		Try: func(k actions.Kind, _ map[string]json.RawMessage) offering.Trial {
			tried[k] = true
			return offering.Trial{Why: "A check blocks it."}
		}}
	for _, offer := range o.Balancer() {
		if isWindow := offer.Text == "Set the window…"; (offer.URL != "") != isWindow {
			t.Errorf("%s leads to %q: %s", offer.Text, offer.URL, offer.Why)
		}
	}
	expect.That(t, tried[actions.BalancerOff] && !tried[actions.BalancerWindow], "tried %v", tried)
}

func TestWholeMovesAreOfferedAsFarAsTheReleaseHasThem(t *testing.T) {
	table := func(version string) *topology.Table {
		return &topology.Table{Loaded: true, ServerInfo: topology.ServerInfo{Version: version},
			Shards:    []topology.Shard{{Name: "a"}, {Name: "b", Draining: true}},
			Databases: []topology.Database{{Name: "app", Primary: "a"}, {Name: "config", Primary: "a"}},
			Unsharded: []topology.Namespace{"app.plain"}}
	}
	urls := func(list []api.Offer) (out []string) {
		for _, o := range list {
			if o.URL != "" {
				out = append(out, o.URL)
			}
		}
		return out
	}
	c := &topology.Collection{Meta: topology.Meta{NS: "app.sharded"}}
	for version, want := range map[string]struct{ lists, collection []string }{
		"4.4.29": {lists: []string{answer.PlanURL(actions.MovePrimary)}},
		"5.0.7": {lists: []string{answer.PlanURL(actions.MovePrimary)},
			collection: []string{answer.PlanURL(actions.ReshardKind, "ns", "app.sharded")}},
		"8.0.4": {lists: []string{answer.PlanURL(actions.MovePrimary), answer.PlanURL(actions.MoveCollection)},
			collection: []string{answer.PlanURL(actions.ReshardKind, "ns", "app.sharded"), answer.PlanURL(actions.Unshard, "ns", "app.sharded")}},
	} {
		o := &offering.Offers{Table: table(version)}
		expect.EqualSlices(t, urls(o.Collections()), want.lists, "%s: the list of collections offers", version)
		tracked := &topology.Collection{Meta: topology.Meta{NS: "app.tracked", Unsplittable: true}}
		move := []string{answer.PlanURL(actions.MoveCollection, "ns", "app.tracked")}
		expect.EqualSlices(t, urls(o.Collection(tracked)), move, "a collection that is not sharded")
		expect.EqualSlices(t, urls(o.Chunk(tracked, 0)), move, "its chunk")
		all := urls(o.Collection(c))
		for _, u := range want.collection {
			expect.That(t, slices.Contains(all, u), "%s: a collection does not offer %s: %q", version, u, all)
		}
		if len(want.collection) == 0 && slices.ContainsFunc(all, func(u string) bool { return strings.Contains(u, "kind=reshard") }) {
			t.Errorf("%s: resharding is offered: %q", version, all)
		}
		for shard, want := range map[string][]string{
			"a": {answer.PlanURL(actions.MovePrimary, "to", "a"), answer.PlanURL(actions.MovePrimary, "db", "app"),
				answer.PlanURL(actions.DrainShard, "shard", "a")},
			"b": {answer.PlanURL(actions.StopDraining, "shard", "b")},
		} {
			got := urls(o.Shard(shard))
			for _, u := range want {
				expect.That(t, slices.Contains(got, u), "%s: %s does not offer %s: %q", version, shard, u, got)
			}
			if draining := answer.PlanURL(actions.MovePrimary, "to", "b"); slices.Contains(got, draining) {
				t.Errorf("%s: a draining shard is offered as primary", version)
			}
		}
	}
}
