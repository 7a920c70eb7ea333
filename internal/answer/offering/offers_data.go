package offering

import (
	"cmp"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Chunk offers what can be done with the chunk at a position.
func (o *Offers) Chunk(c *topology.Collection, i int) []api.Offer {
	if o == nil {
		return nil
	}
	if c.Unsplittable {
		return o.unsharded(c)
	}
	ch, busy := c.Chunks.At(i), resharding(c)
	of := []string{"ns", string(c.NS), "chunk", answer.ChunkRef(c, ch.Min)}
	noMove := cmp.Or(busy, o.OneShard(), whyIf(c.MigrationsBlocked, "Moves of the collection are blocked."))
	return []api.Offer{
		o.Add(actions.Split, "Split…", busy, of...),
		o.Add(actions.SplitHot, "Split where it is hot…", noMove, of...),
		o.Add(actions.MoveChunk, "Move…", noMove, of...),
		o.mergeWithNext(c, i),
		o.Add(actions.ClearJumbo, "Clear the jumbo flag…", cmp.Or(busy, whyIf(!ch.Jumbo, "It is not flagged as jumbo.")), of...),
	}
}

func (o *Offers) mergeWithNext(c *topology.Collection, i int) api.Offer {
	const text = "Merge with the next…"
	busy := resharding(c)
	if i+1 == c.Chunks.Len() {
		return o.Add(actions.Merge, text, cmp.Or(busy, "It is the last chunk."))
	}
	ch, next := c.Chunks.At(i), c.Chunks.At(i+1)
	return o.Add(actions.Merge, text, cmp.Or(busy, whyIf(next.Shard != ch.Shard, "The next chunk is on another shard.")),
		"ns", string(c.NS), "min", c.Key.ExtJSON(ch.Min), "max", c.Key.ExtJSON(next.Max))
}

// Collection offers what can be done with a collection as a whole.
func (o *Offers) Collection(c *topology.Collection) []api.Offer {
	if o == nil || c == nil {
		return nil
	}
	if c.Unsplittable {
		return o.unsharded(c)
	}
	ns, busy := string(c.NS), resharding(c)
	balance, on := "Exclude it from balancing…", "false"
	if c.NoBalance {
		balance, on = "Let the balancer move its chunks…", "true"
	}
	return append([]api.Offer{
		o.Add(actions.Split, "Split at a key…", busy, "ns", ns),
		o.Add(actions.BalanceCollection, balance, busy, "ns", ns, "on", on),
		o.Add(actions.RefineKey, "Refine its shard key…", busy, "ns", ns),
	}, append(o.rewrites(c), o.settings(c)...)...)
}

// unsharded offers what can be done with a collection that is not sharded and has a place of its own (8.0 on).
func (o *Offers) unsharded(c *topology.Collection) []api.Offer {
	return []api.Offer{o.untried(actions.MoveCollection, "Move it to another shard…", cmp.Or(resharding(c), o.OneShard()), "ns", string(c.NS))}
}

// Collections offers what can be done with whole databases, and with collections that are
// not sharded, most of which have no page.
func (o *Offers) Collections() []api.Offer {
	if o == nil {
		return nil
	}
	out := []api.Offer{o.untried(actions.MovePrimary, "Move the primary of a database…", o.OneShard())}
	if t := o.Table; o.has(8, 0) {
		allSharded := t.Unsharded != nil && len(t.Unsharded) == 0 &&
			!slices.ContainsFunc(t.Collections, func(c *topology.Collection) bool { return c.Unsplittable })
		out = append(out, o.untried(actions.MoveCollection, "Move an unsharded collection…",
			cmp.Or(o.OneShard(), whyIf(allSharded, "Every collection is sharded."))))
	}
	return out
}

// has reports whether the release is known and has what that one brought.
func (o *Offers) has(major, minor int) bool {
	r := balance.ReleaseOf(o.Table.ServerInfo.Version)
	return r.Known() && r.AtLeast(major, minor, 0)
}

// rewrites offers what copies the whole collection, as far as the release has it.
func (o *Offers) rewrites(c *topology.Collection) (out []api.Offer) {
	if o.has(5, 0) {
		out = append(out, o.untried(actions.ReshardKind, "Reshard it with another key…", resharding(c), "ns", string(c.NS)))
	}
	if o.has(8, 0) {
		out = append(out, o.untried(actions.Unshard, "Bring all of it to one shard…", resharding(c), "ns", string(c.NS)))
	}
	return out
}

// settings offers the settings of a collection that the release has.
func (o *Offers) settings(c *topology.Collection) (out []api.Offer) {
	ns, busy, r := string(c.NS), resharding(c), balance.ReleaseOf(o.Table.ServerInfo.Version)
	add := func(k actions.Kind, text, why string, more ...string) {
		if since := actions.Describe(k).Since; r.Known() && r.AtLeast(since[0], since[1], since[2]) {
			out = append(out, o.Add(k, text, why, append([]string{"ns", ns}, more...)...))
		}
	}
	choose := func(k actions.Kind, is bool, on, off, why string) {
		if is {
			add(k, off, why, "on", "false")
		} else {
			add(k, on, why, "on", "true")
		}
	}
	choose(actions.AllowMigrations, !c.MigrationsBlocked, "Allow moves…", "Block all moves…", busy)
	add(actions.ChunkSize, "Set its chunk size…", busy)
	choose(actions.AutoMerge, !c.AutoMergeOff, "Merge its chunks automatically…", "Stop merging its chunks automatically…", busy)
	choose(actions.Defragment, c.Defragmenting, "Defragment…", "Stop defragmenting…", busy)
	return out
}

// Project offers what can be done with a project's data.
func (o *Offers) Project(p placement.Project) []api.Offer {
	if o == nil {
		return nil
	}
	id, pinned := p.ID.Hex(), false
	for _, z := range o.Table.Zones {
		pinned = pinned || z.NS.Database() == p.DB && z.Zone == placement.PinZone(id)
	}
	of := []string{"project", id, "db", p.DB}
	held := cmp.Or(o.OneShard(), whyIf(pinned, "It is pinned; unpin it first."))
	return []api.Offer{
		o.Add(actions.SplitProject, "Split its chunks…", "", of...),
		o.Add(actions.Pin, "Pin to a shard…", held, of...),
		o.Add(actions.Isolate, "Isolate…", held, of...),
		o.Add(actions.Unpin, "Unpin…", whyIf(!pinned, "It is not pinned."), of...),
		o.Add(actions.Spread, "Spread…", held, of...),
	}
}
