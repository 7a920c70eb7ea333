package site

import (
	"fmt"
	"net/http"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// offer makes the changes that can be planned of a thing.
type Offer struct {
	T   *topology.Table
	try answer.TryPlan // nil: what is offered is not tried
	why string         // why nothing can be planned at all
	M   templates.Acts
}

// offers begins the offer of a page; nil when nothing is offered to who looks at
// it, or anywhere. A plan's own checks decide: what is said here is only what
// can be seen from the table.
func (s *Site) Offers(r *http.Request, t *topology.Table) *Offer {
	if s.Deps.Actions == nil || r.URL.Query().Has("at") || !auth.From(r.Context()).May(auth.Operator) {
		return nil
	}
	v := s.ViewFor(r)
	v.Table = t
	o := &Offer{T: t, try: s.Tries(v), M: templates.Acts{Title: "Change",
		Lead: "Each opens a form and then a plan; nothing changes until the plan is run."}}
	switch {
	case s.WhyReadOnly() != "":
		o.why = s.WhyReadOnly()
	case !t.Loaded:
		o.why = "The cluster is not read yet."
	}
	return o
}

// add offers a change, with its arguments as name, value pairs; why says
// that it cannot be done now.
func (o *Offer) Add(k actions.Kind, text, why string, pairs ...string) {
	a := templates.Act{Text: text}
	switch {
	case o.why != "":
		a.Why = o.why
	case why != "":
		a.Why = why
	default:
		a.URL = answer.PlanURL(k, pairs...)
		if came := o.tried(a.URL); came.Why != "" && !came.Asks {
			a.URL, a.Why = "", came.Why
		}
	}
	o.M.List = append(o.M.List, a)
}

// tried is what would come of a plan with the arguments that its address has. What
// it lacks is asked in its form, so that only a check that blocks counts.
func (o *Offer) tried(address string) answer.Trial {
	if o.try == nil {
		return answer.Trial{}
	}
	return answer.TryAddress(o.try, address)
}

// single is the reason not to move anything when there is one shard.
func (o *Offer) single() string {
	if len(o.T.Shards) < 2 {
		return "There is one shard only."
	}
	return ""
}

func (o *Offer) Chunk(c *topology.Collection, i int) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	ch := c.Chunks.At(i)
	ns, ref := string(c.NS), answer.ChunkRef(c, ch.Min)
	busy := answer.When(c.Resharding, "The collection is being resharded.")
	o.Add(actions.Split, "Split…", busy, "ns", ns, "chunk", ref)
	moving := answer.ReasonOf(busy, o.single(), answer.When(c.MigrationsBlocked, "Migrations of the collection are forbidden."))
	o.Add(actions.SplitHot, "Split where it is hot…", moving, "ns", ns, "chunk", ref)
	o.Add(actions.MoveChunk, "Move…", moving, "ns", ns, "chunk", ref)
	next, to := answer.ReasonOf(busy, "It is the last chunk."), topology.Chunk{}
	if i+1 < c.Chunks.Len() {
		to = c.Chunks.At(i + 1)
		next = answer.ReasonOf(busy, answer.When(to.Shard != ch.Shard, "The next chunk is on another shard."))
	}
	pairs := []string{"ns", ns}
	if next == "" {
		pairs = append(pairs, "min", c.Key.ExtJSON(ch.Min), "max", c.Key.ExtJSON(to.Max))
	}
	o.Add(actions.Merge, "Merge with the next…", next, pairs...)
	o.Add(
		actions.ClearJumbo,
		"Clear the jumbo flag…",
		answer.ReasonOf(busy, answer.When(!ch.Jumbo, "It is not flagged as jumbo.")),
		"ns",
		ns,
		"chunk",
		ref,
	)
	return o.M
}

func (o *Offer) Collection(c *topology.Collection) templates.Acts {
	if o == nil || c == nil {
		return templates.Acts{}
	}
	ns := string(c.NS)
	o.M.Lead = "Changes of a single chunk are on its page: follow its number."
	busy := answer.When(c.Resharding, "The collection is being resharded.")
	o.Add(actions.Split, "Split at a key…", busy, "ns", ns)
	if c.NoBalance {
		o.Add(actions.BalanceCollection, "Let the balancer move its chunks…", busy, "ns", ns, "on", "true")
	} else {
		o.Add(actions.BalanceCollection, "Keep the balancer from moving its chunks…", busy, "ns", ns, "on", "false")
	}
	return o.M
}

func (o *Offer) Project(p placement.Project) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	id, pinned := p.ID.Hex(), false
	for _, z := range o.T.Zones {
		pinned = pinned || z.NS.Database() == p.DB && z.Zone == placement.PinZone(id)
	}
	of := []string{"project", id, "db", p.DB}
	held := answer.When(pinned, "It is pinned; unpin it first.")
	o.Add(actions.SplitProject, "Split its chunks…", "", of...)
	o.Add(actions.Pin, "Pin to a shard…", answer.ReasonOf(o.single(), held), of...)
	o.Add(actions.Isolate, "Isolate…", answer.ReasonOf(o.single(), held), of...)
	o.Add(actions.Unpin, "Unpin…", answer.When(!pinned, "It is not pinned."), of...)
	o.Add(actions.Spread, "Spread…", answer.ReasonOf(o.single(), held), of...)
	return o.M
}

func (o *Offer) Shard(name string) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	s := o.T.Shard(name)
	if s == nil {
		return templates.Acts{}
	}
	o.Add(actions.ZoneAddShard, "Add to a zone…", answer.When(s.Draining, "The shard is being emptied."), "shard", name)
	if len(s.Zones) == 0 {
		o.Add(actions.ZoneRemoveShard, "Remove from a zone…", "It is in no zone.")
	}
	for _, z := range s.Zones {
		o.Add(
			actions.ZoneRemoveShard,
			fmt.Sprintf("Remove %s from %s…", name, sanitize.Truncate(sanitize.Sentence(z), 60)),
			o.lastShard(z),
			"shard",
			name,
			"zone",
			z,
		)
	}
	return o.M
}

// lastShard is the reason not to take away the only shard of a zone that has
// ranges: their chunks would have nowhere to be.
func (o *Offer) lastShard(zone string) string {
	ranged := slices.ContainsFunc(o.T.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
	return answer.When(ranged && len(o.T.CarriersOf(zone)) < 2, "It is the last shard of this zone, which has ranges; remove those first.")
}

func (o *Offer) Zones() templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	o.Add(actions.ZoneAddShard, "Add a shard to a zone…", "")
	o.Add(actions.ZoneSetRange, "Give a range to a zone…", answer.When(len(o.T.Collections) == 0, "No collection is sharded."))
	for _, s := range o.T.Shards {
		for _, z := range s.Zones {
			if len(o.M.List) < answer.RangesOffered {
				o.Add(
					actions.ZoneRemoveShard,
					fmt.Sprintf("Remove %s from %s…", s.Name, sanitize.Truncate(sanitize.Sentence(z), 60)),
					o.lastShard(z),
					"shard",
					s.Name,
					"zone",
					z,
				)
			}
		}
	}
	for _, z := range o.T.Zones {
		if len(o.M.List) >= 2*answer.RangesOffered {
			break
		}
		lo, hi := parts.BoundOf(o.T, string(z.NS), z.RawMin), parts.BoundOf(o.T, string(z.NS), z.RawMax)
		text := fmt.Sprintf("Take %s → %s of %s from %s…", lo.Short, hi.Short, string(z.NS), sanitize.Truncate(sanitize.Sentence(z.Zone), 60))
		o.Add(
			actions.ZoneRemoveRange,
			text,
			"",
			"ns",
			string(z.NS),
			"zone",
			z.Zone,
			"min",
			answer.ExtJSON(z.RawMin),
			"max",
			answer.ExtJSON(z.RawMax),
		)
	}
	return o.M
}

func (o *Offer) Balancer() templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	b := o.T.Balancer
	o.Add(actions.BalancerOn, "Turn the balancer on…", answer.When(b.Known && b.Enabled() && b.Mode != "autoSplitOnly", "It is on."))
	o.Add(actions.BalancerOff, "Turn the balancer off…", answer.When(b.Known && !b.Enabled(), "It is off."))
	o.Add(actions.BalancerWindow, "Set the window…", "")
	return o.M
}
