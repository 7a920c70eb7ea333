// Package offering answers which changes can be tried or planned from what a page shows, and with which arguments.
package offering

import (
	"cmp"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Offers tells which changes can be planned of a chunk, a collection, a project, a
// shard, the zones or the balancer, and why others cannot. The reasons here are only
// those that the table shows; the plan's own checks decide. A nil Offers offers nothing.
type Offers struct {
	Table   *topology.Table
	Try     TryPlan                               // nil: plans are not tried
	WhyNone string                                // why nothing can be planned at all
	Named   func(message.Message) message.Message // puts projects' names beside keys and in zones; nil: it does not
}

// Add is a change with its arguments as name, value pairs; why says that it cannot
// be planned now.
func (o *Offers) Add(k actions.Kind, text, why string, pairs ...string) api.Offer {
	out := api.Offer{Text: text, Why: cmp.Or(o.WhyNone, why)}
	if out.Why != "" {
		return out
	}
	out.URL = answer.PlanURL(k, pairs...)
	if o.Try == nil || len(pairs) == 0 && len(actions.Describe(k).Arguments) > 0 { // nothing is chosen yet that could be tried
		return out
	}
	// What is missing is asked for in the form, so only a check that blocks counts.
	if came := TryAddress(o.Try, out.URL); came.Why != "" && !came.Asks {
		out.URL, out.Why = "", came.Why
	}
	return out
}

// whyIf is the reason if it applies.
func whyIf(applies bool, reason string) string {
	if applies {
		return reason
	}
	return ""
}

// OneShard is why nothing can be moved in a cluster with one shard.
func (o *Offers) OneShard() string {
	return whyIf(len(o.Table.Shards) < 2, "There is only one shard.")
}

func resharding(c *topology.Collection) string {
	return whyIf(c.Resharding, "The collection is being resharded.")
}

// Balancer offers to turn the balancer on and off, and to set its window.
func (o *Offers) Balancer() []api.Offer {
	if o == nil {
		return nil
	}
	b := o.Table.Balancer
	return []api.Offer{
		o.Add(actions.BalancerOn, "Turn the balancer on…", whyIf(b.Known && b.Enabled() && b.Mode != "autoSplitOnly", "It is on.")),
		o.Add(actions.BalancerOff, "Turn the balancer off…", whyIf(b.Known && !b.Enabled(), "It is off.")),
		o.Add(actions.BalancerWindow, "Set the window…", ""),
	}
}

// Shard offers what can be done with a shard: its zones, the databases of which it is the
// primary, and draining it.
func (o *Offers) Shard(name string) []api.Offer {
	if o == nil {
		return nil
	}
	s := o.Table.Shard(name)
	if s == nil {
		return nil
	}
	out := []api.Offer{
		o.Add(actions.ZoneAddShard, "Add to a zone…", whyIf(s.Draining, "The shard is draining."), "shard", name),
	}
	if len(s.Zones) == 0 {
		out = append(out, o.Add(actions.ZoneRemoveShard, "Remove from a zone…", "It is in no zone."))
	}
	for _, z := range s.Zones {
		out = append(out, o.leaveZone(name, z))
	}
	return append(append(out, o.primaries(s)...), o.drain(s)...)
}

// primariesOffered bounds the databases of which a page offers to move the primary.
const primariesOffered = 5

// primaries offers to move databases to and from a shard. The plan is not tried first: it
// reads a lot, and its checks say what is in the way.
func (o *Offers) primaries(s *topology.Shard) []api.Offer {
	out := []api.Offer{o.untried(actions.MovePrimary, "Make it the primary of a database…",
		cmp.Or(o.OneShard(), whyIf(s.Draining, "The shard is draining.")), "to", s.Name)}
	for _, d := range o.Table.Databases {
		if d.Primary == s.Name && d.Name != "config" && d.Name != "admin" && len(out) <= primariesOffered {
			text := message.New("offer.movePrimary", "Move the primary of {db}…", message.Text("db", sanitize.Truncate(d.Name, 60)))
			out = append(out, o.untried(actions.MovePrimary, text.String(), o.OneShard(), "db", d.Name))
		}
	}
	return out
}

// untried is a change whose plan is not tried before it is offered.
func (o *Offers) untried(k actions.Kind, text, why string, pairs ...string) api.Offer {
	out := api.Offer{Text: text, Why: cmp.Or(o.WhyNone, why)}
	if out.Why == "" {
		out.URL = answer.PlanURL(k, pairs...)
	}
	return out
}

// drain offers to drain a shard, or what follows. The plan is not tried first: its checks say
// what is in the way, with the plans that help.
func (o *Offers) drain(s *topology.Shard) []api.Offer {
	one := func(k actions.Kind, text, why string) api.Offer { return o.untried(k, text, why, "shard", s.Name) }
	if !s.Draining {
		return []api.Offer{one(actions.DrainShard, "Drain it…", o.OneShard())}
	}
	left := o.Table.RemainsOn(s.Name)
	return []api.Offer{
		one(actions.DrainShard, "Wait until it is empty…", whyIf(left.Empty(), "It is empty.")),
		one(actions.StopDraining, "End the draining…", ""),
		one(actions.RemoveShard, "Remove it from the cluster…", whyIf(!left.Empty(), "It is not empty.")),
	}
}

// leaveZone offers to remove a shard from a zone. The only shard of a zone with
// ranges stays: their chunks would have nowhere to be.
func (o *Offers) leaveZone(shard, zone string) api.Offer {
	last := answer.HasRange(o.Table, zone) && len(o.Table.CarriersOf(zone)) < 2
	text := message.New("offer.leaveZone", "Remove {shard} from {zone}…", message.Text("shard", shard),
		message.Text("zone", o.shortZone(zone)))
	return o.Add(actions.ZoneRemoveShard, text.String(),
		whyIf(last, "It is the last shard of this zone, which has ranges. Remove those first."), "shard", shard, "zone", zone)
}

// Zones offers new zones and ranges. Those that are there are changed in their rows.
func (o *Offers) Zones() []api.Offer {
	if o == nil {
		return nil
	}
	return []api.Offer{
		o.Add(actions.ZoneAddShard, "Add a shard to a zone…", ""),
		o.Add(actions.ZoneSetRange, "Assign a range to a zone…", whyIf(len(o.Table.Collections) == 0, "No collection is sharded.")),
	}
}

func (o *Offers) named(m message.Message) message.Message {
	if o.Named == nil {
		return m
	}
	return o.Named(m)
}

func (o *Offers) shortZone(name string) string {
	shown := o.named(message.New("zone", "{zone}", message.Zone("zone", name)))
	return sanitize.Truncate(shown.String(), 60)
}
