// Package causes answers why a document or a chunk is on its shard: zone, split, move or first placement.
package causes

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// WhyOf puts a chain into the API's form, sentences included. Nothing in it
// depends on the time of asking: the same table gives the same text. primaries
// are primary members by shard; nil when nobody asked.
func WhyOf(t *topology.Table, ns topology.Namespace, w placement.Why, primaries map[string]string) api.Why {
	out := api.Why{Basis: string(w.Basis), Fields: []api.WhyField{}, Shards: []api.WhyShard{}, Primary: w.Primary}
	for _, f := range w.Fields {
		field := api.WhyField{Name: f.Name, Hashed: f.Hashed, Hash: answer.DecimalOrNull(f.Hash)}
		if f.Known {
			field.Value = api.Embedded(shardkey.ValueExtJSON(f.Value))
		}
		out.Fields = append(out.Fields, field)
	}
	for _, s := range w.Shards {
		shard := api.WhyShard{Shard: s.Name, ReplSet: s.ReplSet, Hosts: answer.NotNil(s.Hosts), Draining: s.Draining}
		if host, ok := primaries[s.Name]; ok {
			shard.Primary = &host
		}
		out.Shards = append(out.Shards, shard)
	}
	if w.Chunk != nil {
		c := whyChunkOf(t.Collection(ns), w)
		out.Chunk = &c
	}
	out.History = api.WhyHistory{State: string(w.History.State), Moved: causeOf(w.History.Moved), Cut: causeOf(w.History.Cut),
		Held: api.Time(w.History.Held)}
	if w.Zone.State != placement.ZoneNotAsked {
		z := w.Zone
		out.Zone = &api.WhyZone{State: string(z.State), Zone: z.Zone, Shards: answer.NotNil(z.Shards)}
		if w.Chunk != nil {
			out.Zone.Min, out.Zone.Max = answer.KeyOf(w.Chunk.Pattern, z.Min), answer.KeyOf(w.Chunk.Pattern, z.Max)
		}
	}
	out.Steps = whySteps(ns, w, primaries)
	return out
}

func whyChunkOf(c *topology.Collection, w placement.Why) api.WhyChunk {
	k := w.Chunk
	out := api.WhyChunk{
		Number: k.Position + 1, Of: w.Of, Min: answer.KeyOf(k.Pattern, k.Min), Max: answer.KeyOf(k.Pattern, k.Max), Shard: k.Shard,
		Version: api.Version{Major: k.Version.Major, Minor: k.Version.Minor}, Since: api.Instant(k.Since), Jumbo: k.Jumbo,
	}
	if c != nil {
		out.Ref = answer.ChunkRef(c, k.Min)
	}
	return out
}

func causeOf(c *placement.Cause) *api.WhyCause {
	if c == nil {
		return nil
	}
	return &api.WhyCause{What: c.What, At: api.Time(c.At), From: c.From, To: c.To}
}
