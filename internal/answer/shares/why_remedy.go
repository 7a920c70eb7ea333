package shares

import (
	"fmt"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/chunksize"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// lessHere is why a part needs no plan.
const lessHere = "No more than an even share."

// help asks what would help with each listed part that the shard has more of than an even share.
func (w *shardWhy) help(list []whyPart) {
	for i := range list {
		switch p := &list[i]; {
		case p.WhyNot != "":
		case p.Difference != nil && *p.Difference <= 0:
			p.WhyNot = lessHere
		case p.remedy != nil:
			p.remedy(p)
		case p.Kind == "others":
			p.WhyNot = "Each of these is small; the JSON and CSV list more of them."
		}
	}
}

// offer adds a plan that can be made now, and keeps why another one cannot for when none can.
func (w *shardWhy) offer(p *whyPart, k actions.Kind, text string, pairs ...string) {
	plan := rules.Plan{Kind: string(k), Args: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			plan.Args[pairs[i]] = pairs[i+1]
		}
	}
	one := api.AdvicePlan{Kind: plan.Kind, Args: offering.PlanArgumentsShown(w.v, plan), Text: text}
	if w.h.Try != nil {
		if came := w.h.Try(k, offering.PlanArguments(plan)); came.Why != "" {
			p.WhyNot = text + ": " + came.Why
			return
		}
	}
	if w.h.Plans {
		one.URL = api.Address(problems.RemedyURL(plan, w.reason(p)))
	}
	p.Plans, p.WhyNot = append(p.Plans, one), ""
}

// reason is what the plan's form says as its reason.
func (w *shardWhy) reason(p *whyPart) string {
	return sanitize.Sentence(fmt.Sprintf("%s has %s%s more than its even share: %s.", w.q.Shard,
		AmountText(w.q.By, p.difference()), w.q.AmountOf(p.difference()), p.Text))
}

// held is why no chunk of a collection can move at all; "" if one can.
func held(c *topology.Collection) string {
	switch {
	case c.Resharding:
		return "It is being resharded; its chunks stay until that ends."
	case c.MigrationsBlocked:
		return "Its moves are blocked. Allow them again when the reason is gone."
	}
	return ""
}

// collectionRemedy is what makes a collection even: let the balancer do it, where it is told not to,
// else move the chunk that matters most.
func (w *shardWhy) collectionRemedy(p *whyPart, c *topology.Collection, amounts func() data.ChunkAmounts) {
	p.remedy = func(p *whyPart) {
		ns := string(c.NS)
		if p.WhyNot = held(c); p.WhyNot != "" {
			return
		}
		if w.q.By == data.OfWrites {
			w.hottestRemedy(p, c, amounts())
			return
		}
		if c.Chunks.Len() == 1 {
			w.offer(p, actions.Split, "Split its only chunk in two, so that one half can move", "ns", ns,
				"chunk", answer.ChunkRef(c, c.Chunks.At(0).Min), "parts", "2")
			return
		}
		if c.NoBalance {
			w.offer(p, actions.BalanceCollection, "Let the balancer move its chunks again", "ns", ns, "on", "true")
		}
		b := w.v.Table.Balancer
		if b.Known && !b.Moves() && (!b.Broken() || !b.Enabled()) {
			w.offer(p, actions.BalancerOn, "Turn the balancer on")
		}
		if b.Moves() && !c.NoBalance {
			if n := w.balancerTakes(c); n > 0 {
				p.WhyNot = "No plan is needed: the balancer is on and moves chunks of it away from here, one at a time."
				return
			}
		}
		a := amounts()
		if i, smallest := w.largestMovable(c, a, p.difference()); i >= 0 {
			w.moveChunk(p, c, i, a.Of(i, w.q.Shard), "Move chunk "+format.Count(int64(i+1)))
		} else if len(p.Plans) == 0 && p.WhyNot == "" {
			p.WhyNot = "No chunk here is both small enough and free to move. Open it to see each."
			if 2*p.difference() < smallest {
				p.WhyNot = "Even enough: the difference is less than half a chunk, the smallest amount that moves."
			}
		}
	}
}

// balancerTakes is how many chunks of a collection the next round moves away from the shard.
func (w *shardWhy) balancerTakes(c *topology.Collection) (n int) {
	for _, m := range balance.PlanOf(balance.Situation{Table: w.v.Table}, c).Moves() {
		if m.From == w.q.Shard {
			n++
		}
	}
	return n
}

// largestMovable is the position of the largest chunk here that is not jumbo and whose move makes the
// collection more even; -1 for none. A chunk of more than twice the difference would make it less so.
// smallest is the amount of the smallest chunk here.
func (w *shardWhy) largestMovable(c *topology.Collection, a data.ChunkAmounts, difference float64) (best int, smallest float64) {
	best, smallest = -1, math.Inf(1)
	most := -1.0
	for i, owner := range c.Chunks.Owners() {
		x := a.Of(i, owner)
		if owner == w.q.Shard {
			smallest = min(smallest, x)
		}
		if owner != w.q.Shard || x <= most || x > 2*difference || c.Chunks.At(i).Jumbo {
			continue
		}
		if w.receiver(c, i, x) != "" {
			best, most = i, x
		}
	}
	return best, smallest
}

// receiver is the shard with least of all that may hold a chunk; "" where each would have as much
// as this one with it.
func (w *shardWhy) receiver(c *topology.Collection, i int, x float64) string {
	zone, straddles := w.v.Table.ZoneOf(c, i)
	if straddles {
		return ""
	}
	return w.emptiest(w.even.Holders(zone), x)
}

// emptiest is the shard of a list with least, if that is less than this one has even with x more,
// or this one drains.
func (w *shardWhy) emptiest(of []string, x float64) string {
	load := w.loads()
	best, least := "", math.Inf(1)
	if slices.Contains(w.even.Able, w.q.Shard) {
		least = load[w.q.Shard] - x
	}
	for _, name := range of {
		if x, known := load[name]; known && name != w.q.Shard && x < least {
			best, least = name, x
		}
	}
	return best
}

// loads is what each shard has of the measure, as far as it is known.
func (w *shardWhy) loads() map[string]float64 {
	if w.load != nil {
		return w.load
	}
	w.load = map[string]float64{}
	if w.q.By == data.OfWrites {
		for _, s := range w.v.Table.Shards {
			w.load[s.Name] = 0
		}
		for shard, x := range writes.ShardWrites(w.v, w.h, writes.HeatListQuery{Window: w.v.WritesWindow()}) {
			w.load[shard] = x
		}
		return w.load
	}
	all := w.v.Load()
	figures := all.Bytes
	if w.q.By == data.OfDocuments {
		figures = all.Documents
	}
	for i, f := range figures {
		if f.Known {
			w.load[all.Shards[i].Name] = float64(f.Value)
		}
	}
	return w.load
}

// moveChunk offers to move a chunk to the shard with least.
func (w *shardWhy) moveChunk(p *whyPart, c *topology.Collection, i int, x float64, text string) {
	to := w.receiver(c, i, x)
	w.offer(p, actions.MoveChunk, fmt.Sprintf("%s to %s, which has the least", text, to), "ns", string(c.NS),
		"chunk", answer.ChunkRef(c, c.Chunks.At(i).Min), "to", to)
}

// chunkRemedy is what can be done with one chunk.
func (w *shardWhy) chunkRemedy(p *whyPart, c *topology.Collection, i int) {
	p.remedy = func(p *whyPart) {
		ch := c.Chunks.At(i)
		ref := []string{"ns", string(c.NS), "chunk", answer.ChunkRef(c, ch.Min)}
		if p.WhyNot = held(c); p.WhyNot != "" {
			return
		}
		if w.q.By == data.OfWrites {
			w.hotRemedy(p, c, i)
			return
		}
		if ch.Jumbo {
			w.offer(p, actions.Split, "Split it in two: it is flagged as jumbo and does not move", append(ref, "parts", "2")...)
			w.offer(p, actions.ClearJumbo, "Clear its jumbo flag, so that the balancer tries again", ref...)
			return
		}
		size := data.SizeNow(w.v, c, ch)
		if chunksize.Judge(w.v.Table, c, ch.Shard, size).Oversized(size) && size.Measured {
			w.offer(p, actions.Split, "Split it in two: it has more documents than its shard moves at once", append(ref, "parts", "2")...)
			return
		}
		if to := w.receiver(c, i, p.here); to != "" {
			w.moveChunk(p, c, i, p.here, "Move it")
			return
		}
		zone, straddles := w.v.Table.ZoneOf(c, i)
		holders := w.even.Holders(zone)
		switch {
		case straddles:
			p.WhyNot = "The boundary of a zone cuts it; the balancer splits it there first."
		case zone != "" && len(holders) == 1 && holders[0] == w.q.Shard:
			p.WhyNot = "Its zone " + sanitize.Sentence(zone) + " has this shard only."
			if to := w.emptiest(w.even.Able, 0); to != "" {
				w.offer(p, actions.ZoneAddShard, "Add "+to+" to its zone "+sanitize.Sentence(zone), "shard", to, "zone", zone)
			}
		case zone != "" && len(holders) == 0:
			p.WhyNot = "No shard that may hold it is in its zone " + sanitize.Sentence(zone) + "."
			w.offer(p, actions.ZoneAddShard, "Add a shard to its zone "+sanitize.Sentence(zone),
				"shard", w.emptiest(w.even.Able, 0), "zone", zone)
		default:
			p.WhyNot = "Every other shard that may hold it would have as much as this one."
		}
	}
}

// hottestRemedy is what helps with the chunk here that takes most of a collection's writes.
func (w *shardWhy) hottestRemedy(p *whyPart, c *topology.Collection, a data.ChunkAmounts) {
	for _, l := range a.Window.Chunks(w.v.Table, w.v.Profile) { // hottest first
		if l.Shard == w.q.Shard && l.Rate.PerSecond > 0 {
			w.hotRemedy(p, c, l.Chunk)
			return
		}
	}
	p.WhyNot = "Its writes are not counted by chunk, so the chunk to split or move is not known."
}

// hotRemedy is what helps with a chunk that takes many writes.
func (w *shardWhy) hotRemedy(p *whyPart, c *topology.Collection, i int) {
	window := w.h.Counts.Window(c.NS, w.v.WritesWindow())
	for _, l := range window.Chunks(w.v.Table, w.v.Profile) {
		if l.Chunk != i {
			continue
		}
		split := window.Splittings(w.v.Table, w.v.Profile, []heat.Line{l})[0]
		kind, to := writes.HotPlan(w.v.Table, c, i, l.Rate.PerSecond, split, w.loads)
		ref := answer.ChunkRef(c, c.Chunks.At(i).Min)
		name := "chunk " + format.Count(int64(i+1))
		switch kind {
		case actions.SplitHot:
			w.offer(p, kind, "Split "+name+" where its writes are, and move one half", "ns", string(c.NS), "chunk", ref)
		case actions.MoveChunk:
			w.offer(p, kind, "Move "+name+" to "+to+", which takes the fewest writes", "ns", string(c.NS), "chunk", ref, "to", to)
		}
		if len(p.Plans) == 0 && p.WhyNot == "" {
			p.WhyNot = writes.SplitText(w.v, c, split).String()
			if to != "" {
				p.WhyNot += " A move would only heat another shard."
			}
		}
		return
	}
	p.WhyNot = "Its writes are no longer counted."
}

// projectRemedy is what can be done with a project: release it where a pin holds it here, else
// spread it over the shards, or keep it on the shard with least.
func (w *shardWhy) projectRemedy(p *whyPart, id bson.ObjectID) {
	p.remedy = func(p *whyPart) {
		db := topology.Namespace(p.NS).Database()
		of := []string{"project", id.Hex(), "db", db}
		zone := placement.PinZone(id.Hex())
		if slices.ContainsFunc(w.v.Table.Zones, func(z topology.ZoneRange) bool { return z.NS.Database() == db && z.Zone == zone }) {
			w.offer(p, actions.Unpin, "Unpin it: a pin keeps it on "+format.JoinWords(w.v.Table.CarriersOf(zone)), of...)
			return
		}
		w.offer(p, actions.Spread, "Spread it over the shards", of...)
		to := w.emptiest(w.even.Able, 0)
		if to == "" {
			if len(p.Plans) == 0 && p.WhyNot == "" {
				p.WhyNot = "No other shard has less than this one."
			}
			return
		}
		w.offer(p, actions.Pin, "Pin it to "+to+", which has the least", append(of, "shard", to)...)
		w.offer(p, actions.Isolate, "Isolate it on "+to, append(of, "shard", to)...)
	}
}

// unshardedRemedy moves a collection that one shard has to hold whole: before MongoDB 8.0 with all others of its
// database.
func (w *shardWhy) unshardedRemedy(p *whyPart, ns topology.Namespace, c *topology.Collection) {
	p.remedy = func(p *whyPart) {
		to := w.emptiest(w.even.Able, 0)
		switch {
		case to == "":
			p.WhyNot = "It is not sharded, so all of it is on one shard. No other shard has less than this one."
		case balance.ReleaseOf(w.v.Table.ServerInfo.Version).AtLeast(8, 0, 0):
			w.offer(p, actions.MoveCollection, "Move it to "+to+", which has the least", "ns", string(ns), "to", to)
		case c == nil:
			w.offer(p, actions.MovePrimary, "Make "+to+" the primary of "+ns.Database()+", with all its unsharded collections",
				"db", ns.Database(), "to", to)
		}
	}
}
