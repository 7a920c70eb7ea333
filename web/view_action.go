package web

import (
	"net/http"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// rangesOffered bounds the ranges and members that the zones' page offers to
// take away, one by one.
const rangesOffered = 40

// offer makes the changes that can be planned of a thing.
type offer struct {
	t   *topology.Table
	try tryPlan // nil: what is offered is not tried
	why string  // why nothing can be planned at all
	m   templates.Acts
}

// offers begins the offer of a page; nil when nothing is offered to who looks at
// it, or anywhere. A plan's own checks decide: what is said here is only what
// can be seen from the table.
func (s *Site) offers(r *http.Request, t *topology.Table) *offer {
	if s.deps.Actions == nil || r.URL.Query().Has("at") || !auth.From(r.Context()).May(auth.Operator) {
		return nil
	}
	v := s.viewFor(r)
	v.Table = t
	o := &offer{t: t, try: s.tries(v), m: templates.Acts{Title: words.T("acts.title"), Lead: words.T("acts.lead")}}
	switch {
	case s.whyReadOnly() != "":
		o.why = s.whyReadOnly()
	case !t.Loaded:
		o.why = words.T("act.why.loading")
	}
	return o
}

// add offers a change, with its arguments as name, value pairs; why is a code
// that says that it cannot be done now.
func (o *offer) add(k actions.Kind, text, why string, pairs ...string) {
	a := templates.Act{Text: text}
	switch {
	case o.why != "":
		a.Why = o.why
	case why != "":
		a.Why = words.Code("act.why", why, nil)
	default:
		a.URL = planURL(k, pairs...)
		if came := o.tried(a.URL); came.why != "" && !came.asks {
			a.URL, a.Why = "", came.why
		}
	}
	o.m.List = append(o.m.List, a)
}

// tried is what would come of a plan with the arguments that its address has. What
// it lacks is asked in its form, so that only a check that blocks counts.
func (o *offer) tried(address string) trial {
	if o.try == nil {
		return trial{}
	}
	return tryAddress(o.try, address)
}

func actWord(code string) string { return words.Code("act", code, nil) }

// single is the reason not to move anything when there is one shard.
func (o *offer) single() string {
	if len(o.t.Shards) < 2 {
		return "single"
	}
	return ""
}

func reasonOf(codes ...string) string {
	for _, c := range codes {
		if c != "" {
			return c
		}
	}
	return ""
}

func when(is bool, code string) string {
	if is {
		return code
	}
	return ""
}

func (o *offer) chunk(c *topology.Collection, i int) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	ch := c.Chunks.At(i)
	ns, ref := string(c.NS), chunkRef(c, ch.Min)
	busy := when(c.Resharding, "resharding")
	o.add(actions.Split, actWord("split"), busy, "ns", ns, "chunk", ref)
	moving := reasonOf(busy, o.single(), when(c.MigrationsBlocked, "blocked"))
	o.add(actions.SplitHot, actWord("split-hot"), moving, "ns", ns, "chunk", ref)
	o.add(actions.MoveChunk, actWord("move"), moving, "ns", ns, "chunk", ref)
	next, to := reasonOf(busy, "last"), topology.Chunk{}
	if i+1 < c.Chunks.Len() {
		to = c.Chunks.At(i + 1)
		next = reasonOf(busy, when(to.Shard != ch.Shard, "neighbour"))
	}
	pairs := []string{"ns", ns}
	if next == "" {
		pairs = append(pairs, "min", c.Key.ExtJSON(ch.Min), "max", c.Key.ExtJSON(to.Max))
	}
	o.add(actions.Merge, actWord("merge"), next, pairs...)
	o.add(actions.ClearJumbo, actWord("clear-jumbo"), reasonOf(busy, when(!ch.Jumbo, "notJumbo")), "ns", ns, "chunk", ref)
	return o.m
}

func (o *offer) collection(c *topology.Collection) templates.Acts {
	if o == nil || c == nil {
		return templates.Acts{}
	}
	ns := string(c.NS)
	o.m.Lead = words.T("acts.lead.collection")
	busy := when(c.Resharding, "resharding")
	o.add(actions.Split, actWord("splitAt"), busy, "ns", ns)
	if c.NoBalance {
		o.add(actions.BalanceCollection, actWord("balance.on"), busy, "ns", ns, "on", "true")
	} else {
		o.add(actions.BalanceCollection, actWord("balance.off"), busy, "ns", ns, "on", "false")
	}
	return o.m
}

func (o *offer) project(p placement.Project) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	id, pinned := p.ID.Hex(), false
	for _, z := range o.t.Zones {
		pinned = pinned || z.NS.Database() == p.DB && z.Zone == placement.PinZone(id)
	}
	of := []string{"project", id, "db", p.DB}
	held := when(pinned, "pinned")
	o.add(actions.SplitProject, actWord("split-project"), "", of...)
	o.add(actions.Pin, actWord("pin"), reasonOf(o.single(), held), of...)
	o.add(actions.Isolate, actWord("isolate"), reasonOf(o.single(), held), of...)
	o.add(actions.Unpin, actWord("unpin"), when(!pinned, "notPinned"), of...)
	o.add(actions.Spread, actWord("spread"), reasonOf(o.single(), held), of...)
	return o.m
}

func (o *offer) shard(name string) templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	s := o.t.Shard(name)
	if s == nil {
		return templates.Acts{}
	}
	o.add(actions.ZoneAddShard, actWord("zone-add-shard.this"), when(s.Draining, "draining"), "shard", name)
	if len(s.Zones) == 0 {
		o.add(actions.ZoneRemoveShard, actWord("zone-remove-shard.this"), "noZone")
	}
	for _, z := range s.Zones {
		o.add(actions.ZoneRemoveShard, words.T("act.zone-remove-shard", "zone", sanitize.Truncate(sanitize.Sentence(z), 60), "shard", name), o.lastShard(z), "shard", name, "zone", z)
	}
	return o.m
}

// lastShard is the reason not to take away the only shard of a zone that has
// ranges: their chunks would have nowhere to be.
func (o *offer) lastShard(zone string) string {
	ranged := slices.ContainsFunc(o.t.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
	return when(ranged && len(zoneShards(o.t)[zone]) < 2, "lastShard")
}

func (o *offer) zones() templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	o.add(actions.ZoneAddShard, actWord("zone-add-shard"), "")
	o.add(actions.ZoneSetRange, actWord("zone-set-range"), when(len(o.t.Collections) == 0, "noCollection"))
	for _, s := range o.t.Shards {
		for _, z := range s.Zones {
			if len(o.m.List) < rangesOffered {
				o.add(actions.ZoneRemoveShard, words.T("act.zone-remove-shard", "zone", sanitize.Truncate(sanitize.Sentence(z), 60), "shard", s.Name), o.lastShard(z), "shard", s.Name, "zone", z)
			}
		}
	}
	for _, z := range o.t.Zones {
		if len(o.m.List) >= 2*rangesOffered {
			break
		}
		lo, hi := boundOf(o.t, string(z.NS), z.RawMin), boundOf(o.t, string(z.NS), z.RawMax)
		text := words.T("act.zone-remove-range", "zone", sanitize.Truncate(sanitize.Sentence(z.Zone), 60), "ns", string(z.NS), "min", lo.Short, "max", hi.Short)
		o.add(actions.ZoneRemoveRange, text, "", "ns", string(z.NS), "zone", z.Zone, "min", extJSON(z.RawMin), "max", extJSON(z.RawMax))
	}
	return o.m
}

func (o *offer) balancer() templates.Acts {
	if o == nil {
		return templates.Acts{}
	}
	b := o.t.Balancer
	o.add(actions.BalancerOn, actWord("balancer-on"), when(b.Known && b.Enabled() && b.Mode != "autoSplitOnly", "isOn"))
	o.add(actions.BalancerOff, actWord("balancer-off"), when(b.Known && !b.Enabled(), "isOff"))
	o.add(actions.BalancerWindow, actWord("balancer-window"), "")
	return o.m
}

// extJSON is a document for an address: canonical, so that no type is lost.
func extJSON(doc bson.Raw) string { return string(api.Document(doc)) }
