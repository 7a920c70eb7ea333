package placement

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// fields are the id fields of a row that are known.
type fields map[string]bson.RawValue

// name adds the name of a row of a collection where the shard key has it, as a longer key of documents, or one of
// devices in a region.
func (f fields) name(t *topology.Table, ns topology.Namespace, of profile.Collection, name Stored) {
	var key shardkey.Pattern
	if c := t.Collection(ns); c != nil {
		key = c.Key
	} else if d := t.DamageOf(ns); d != nil {
		key = d.Key
	}
	if _, known := f[of.KeyField]; !known && name != "" && key.HasField(of.KeyField) {
		f[of.KeyField] = name.Value(bson.ObjectID{})
	}
}

// placeOf places a row by what is known of its shard-key fields: all of them
// give one chunk; a leading part gives the chunks of a range; none gives every
// shard that owns chunks.
func placeOf(t *topology.Table, ns topology.Namespace, what string, known fields) Place {
	p := Place{NS: ns, What: what, Exists: "would-be", Match: known.match()}
	c, damage := t.Collection(ns), t.DamageOf(ns)
	if damage == nil && (c == nil || c.Unsplittable) {
		p.atHome(t)
		return p
	}
	if c != nil && damage != nil && damage.Kind == topology.DamageUnread {
		damage = nil // as it was before
	}
	var key shardkey.Pattern
	var place func([]bson.RawValue) error
	if damage != nil {
		key, place = damage.Key, func(values []bson.RawValue) error { return p.inDamaged(t, damage, values) }
	} else {
		key, place = c.Key, func(values []bson.RawValue) error { return p.inChunks(t, c, values) }
	}
	var values []bson.RawValue
	for _, f := range key.Fields() {
		v, ok := known[f.Name]
		if !ok {
			break
		}
		values = append(values, v)
	}
	if err := place(values); err != nil {
		p.Exists = "unknown" // cannot happen: an id is a legal value of every key field
	}
	return p
}

// findMissing finds the shards that the cluster does not have, once it is known on which the place is.
func (p *Place) findMissing(t *topology.Table) {
	for _, s := range p.Shards {
		if t.Shard(s) == nil {
			p.Missing = append(p.Missing, s)
		}
	}
}

// atHome places what is not sharded.
func (p *Place) atHome(t *topology.Table) {
	shard := t.Home(p.NS)
	switch {
	case presence(t, p.NS) == PresenceNo:
		p.Exists = "absent"
	case shard != "":
		p.Shards, p.Exact = []string{shard}, true
	}
	p.findMissing(t)
	if presence(t, p.NS) == PresenceUnknown {
		p.Exists = "unknown"
	}
}

// inChunks fills the place from values of the leading key fields.
func (p *Place) inChunks(t *topology.Table, c *topology.Collection, values []bson.RawValue) error {
	p.Sharded, p.Pattern = true, c.Key
	if err := p.hashOf(c.Key, values); err != nil {
		return err
	}
	if len(values) == c.Key.Len() {
		key, err := keyOf(c.Key, p.Hash, values)
		if err != nil {
			return err
		}
		i, chunk := c.Chunks.Find(key)
		p.Key, p.Min, p.Max = key, chunk.Min, chunk.Max
		p.Version, p.Since, p.Jumbo = chunk.Version, chunk.Since, chunk.Jumbo
		p.Shards, p.Exact, p.Chunks = []string{chunk.Shard}, true, 1
		p.Zone, _ = t.ZoneOf(c, i)
		p.findMissing(t)
		return nil
	}
	from, to := 0, c.Chunks.Len()
	if len(values) > 0 {
		r, err := c.Key.PrefixRange(values...)
		if err != nil {
			return err
		}
		from, to = c.Chunks.Overlap(r)
	}
	p.among(t, c, from, to)
	return nil
}

// among places it in any of the chunks [from, to).
func (p *Place) among(t *topology.Table, c *topology.Collection, from, to int) {
	p.Chunks = to - from
	for i := from; i < to; i++ {
		if s := c.Chunks.Owner(i); !slices.Contains(p.Shards, s) {
			p.Shards = append(p.Shards, s)
		}
	}
	natural.Sort(p.Shards)
	p.findMissing(t)
	p.Exact = len(p.Shards) == 1
	if p.Chunks == 1 {
		chunk := c.Chunks.At(from)
		p.Min, p.Max, p.Version, p.Since, p.Jumbo = chunk.Min, chunk.Max, chunk.Version, chunk.Since, chunk.Jumbo
		p.Zone, _ = t.ZoneOf(c, from)
	}
}

// hashOf sets the hash of the hashed field, where its value is among those of the leading fields.
func (p *Place) hashOf(key shardkey.Pattern, values []bson.RawValue) error {
	h := key.Hashed()
	if h < 0 || h >= len(values) {
		return nil
	}
	hash, err := shardkey.Hash(values[h])
	if err != nil {
		return err
	}
	p.Hash = &hash
	return nil
}

// keyOf is the complete key; a hash that is all of it is not made twice.
func keyOf(p shardkey.Pattern, hash *int64, values []bson.RawValue) (shardkey.Key, error) {
	if hash != nil && p.Len() == 1 {
		return shardkey.HashKey(*hash), nil
	}
	return p.KeyOf(values...)
}

// locateKey places a shard-key value given as Extended JSON: a document with
// the leading key fields, or the bare value of a one-field key. Values are as
// stored in documents; a hashed field's value is hashed here.
func locateKey(t *topology.Table, q Query) ([]Item, error) {
	if d := t.DamageOf(q.NS); d != nil && d.Kind != topology.DamageUnread {
		return locateDamaged(t, d, q)
	}
	c := t.Collection(q.NS)
	if c == nil {
		if d := t.DamageOf(q.NS); d != nil {
			return nil, fault.New(fault.Conflict, "%s", cmp.Or(d.Text, "The chunks of "+string(q.NS)+" have not been read yet."))
		}
		if !slices.Contains(t.Unsharded, q.NS) {
			return nil, fault.New(fault.NotFound, "No sharded collection is named %q.", string(q.NS))
		}
	}
	if c == nil || c.Unsplittable { // not sharded: every key is on the one shard
		p := Place{NS: q.NS, Exists: "unknown"}
		if c != nil {
			p.NS = c.NS // the buckets of a time series
		}
		p.atHome(t)
		return []Item{{Kind: "key", ID: q.Key, DB: q.NS.Database(), Places: []Place{p}}}, nil
	}
	if q.Key == "" {
		return nil, fault.New(fault.Invalid, "The value of the shard key %s is missing: add key=… as Extended JSON.", c.Key)
	}
	got, err := readKey(c.Meta, q.Key)
	if err != nil {
		return nil, err
	}
	p := Place{NS: c.NS, Exists: "unknown"}
	if !got.spans() {
		p.Match = matchKey(c.Key, got.values) // a measurement's time is not that of its bucket
	}
	if got.spans() {
		err = p.aroundTime(t, c, got)
	} else {
		err = p.inChunks(t, c, got.values)
	}
	if err != nil {
		return nil, err
	}
	return []Item{{Kind: "key", ID: q.Key, DB: q.NS.Database(), Places: []Place{p}, Notes: got.notes(c.Meta)}}, nil
}

// locateDamaged places a key by what the metadata says of a collection whose routing table is damaged.
func locateDamaged(t *topology.Table, d *topology.Damage, q Query) ([]Item, error) {
	if q.Key == "" {
		return nil, fault.New(fault.Invalid, "The value of the shard key %s is missing: add key=… as Extended JSON.", d.Key)
	}
	got, err := readKey(d.Meta, q.Key)
	if err != nil {
		return nil, err
	}
	values := got.values
	if got.spans() {
		values = values[:got.timeAt]
	}
	if len(values) != d.Key.Len() {
		return nil, fault.New(fault.Conflict, "The routing table of %s is damaged; give all fields of the shard key %s to see who owns that key.",
			q.NS, d.Key)
	}
	p := Place{NS: d.NS, Exists: "unknown", Match: matchKey(d.Key, values)}
	if err := p.inDamaged(t, d, values); err != nil {
		return nil, err
	}
	return []Item{{Kind: "key", ID: q.Key, DB: q.NS.Database(), Places: []Place{p}, Notes: got.notes(d.Meta)}}, nil
}

// inDamaged fills the place from values of the leading key fields. Without all of them nobody is named.
func (p *Place) inDamaged(t *topology.Table, d *topology.Damage, values []bson.RawValue) error {
	p.Sharded, p.Pattern, p.Damage = !d.Unsplittable, d.Key, d
	if err := p.hashOf(d.Key, values); err != nil {
		return err
	}
	if len(values) != d.Key.Len() {
		return nil
	}
	key, err := keyOf(d.Key, p.Hash, values)
	if err != nil {
		return err
	}
	p.Key = key
	owners, of, known := d.Owners(key)
	if known {
		p.Shards, p.Min, p.Max, p.Exact, p.Chunks = owners, of.Min, of.Max, len(owners) == 1, 1
		p.findMissing(t)
	}
	return nil
}
