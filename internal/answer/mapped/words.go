package mapped

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// mapHeadline is the state of the cluster as the map shows it, in one sentence.
func mapHeadline(v MapView, m api.ClusterMap) message.Message {
	sharded, chunks, jumbo, outside := 0, 0, 0, 0
	for _, b := range m.Bands {
		if b.Sharded {
			c := v.Table.Collection(topology.Namespace(b.NS))
			sharded, chunks, jumbo = sharded+1, chunks+b.Total, jumbo+b.Jumbo
			outside += v.bandOf(c).of(v, c).countOutside(c)
		}
	}
	moving := len(slices.DeleteFunc(slices.Clone(m.Moving), func(x api.MapMove) bool { return x.Arrived }))
	if m.MovingMore != nil {
		moving += *m.MovingMore
	}
	if len(m.Bands) == 0 && mapUnread(v) {
		return message.New("map.unread", "The collections could not be read, so there is nothing to draw.")
	}
	if len(m.Bands) == 0 {
		return message.New("map.empty", "There are no collections to draw.")
	}
	if sharded == 0 {
		return message.New("map.unsharded", message.Plural(len(m.Shards), "No collection is sharded. There is one shard.",
			"No collection is sharded: each is on one of {shards} shards."),
			message.Count("shards", len(m.Shards)))
	}
	pattern := message.Plural(chunks, "{chunks} chunk of ", "{chunks} chunks of ") +
		message.Plural(sharded, "{n} collection on ", "{n} collections on ") +
		message.Plural(len(m.Shards), "{shards} shard", "{shards} shards")
	if m.More > 0 {
		pattern = "At least " + pattern
	}
	one, many := "{moving} is moving", "{moving} are moving"
	if m.Stale || v.Table.Health[topology.PartMoves].Err != nil {
		one, many = "{moving} was moving when last read", "{moving} were moving when last read"
	}
	var also []string
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{outside, "{outside} is outside its zone", "{outside} are outside their zone"},
		{jumbo, "{jumbo} is jumbo", "{jumbo} are jumbo"},
		{moving, one, many},
	} {
		if x.n > 0 {
			also = append(also, message.Plural(x.n, x.one, x.many))
		}
	}
	for i, part := range also {
		switch {
		case i == 0:
			pattern += ": "
		case i == len(also)-1:
			pattern += " and "
		default:
			pattern += ", "
		}
		pattern += part
	}
	if len(also) == 0 {
		pattern += calm(v, m)
	}
	return message.New("map.headline", pattern+".", message.Count("chunks", chunks), message.Count("n", sharded),
		message.Count("shards", len(m.Shards)), message.Count("outside", outside), message.Count("jumbo", jumbo), message.Count("moving", moving))
}

// mapUnread is true if nobody knows whether there are collections.
func mapUnread(v MapView) bool {
	code := answer.PartState(v.View, topology.PartRouting).Code
	return code == "failed" || code == "denied"
}

// calm ends the sentence of a map on which nothing is unusual.
func calm(v MapView, m api.ClusterMap) string {
	switch {
	case v.Past != nil, m.Stale, v.Table.Health[topology.PartMoves].Err != nil:
		return ""
	case m.MovingMore == nil:
		return ": whether any is moving is not known"
	}
	return ": none is moving"
}

// mapNotes are what the map does not show, and why.
func mapNotes(v MapView, q MapQuery, m api.ClusterMap) (out []api.State) {
	if s := answer.PartState(v.View, topology.PartRouting); s.Code != "" {
		out = append(out, s)
	}
	out = append(out, data.DamagedNotes(v.Table)...)
	part := func(p topology.Part) {
		if s := answer.PartState(v.View, p); s.Code != "" && (s.Code == "denied" || v.Past == nil) && s.Code != "stale" {
			out = append(out, s)
		}
	}
	part(topology.PartZones)
	switch q.By {
	case MapBySize:
		part(topology.PartSizes)
		out = append(out, api.State{Code: "estimate", Title: "Sizes are estimates.",
			Detail: "A chunk that was not measured has its shard’s data divided by the shard’s chunks."})
	case MapByHeat:
		if s := heatNote(v, m); s.Code != "" {
			out = append(out, s)
		}
	case MapByAge:
		if m.Scale.Age.High == nil && len(m.Bands) > 0 {
			out = append(out, api.State{Code: "empty", Title: "It is not known when a chunk moved.",
				Detail: "This MongoDB release does not record it."})
		}
	}
	if h := v.Table.Health[topology.PartMoves]; v.Past == nil && h.Err != nil {
		out = append(out, answer.PartState(v.View, topology.PartMoves))
	}
	return out
}

// heatNote says why writes are missing.
func heatNote(v MapView, m api.ClusterMap) api.State {
	if v.Past != nil {
		return api.State{Code: "empty", Title: "Only current writes are shown.", Detail: "The heat page has pictures of past writes."}
	}
	counted, sharded := 0, 0
	for _, b := range m.Bands {
		if b.Sharded {
			sharded++
		}
		if b.Heat {
			counted++
		}
	}
	switch {
	case counted == 0:
		return api.State{Code: "empty", Title: "No writes have been counted yet.",
			Detail: "They are counted for collections whose rows have the time of the write."}
	case counted < sharded:
		return api.State{Code: "partial", Title: "Writes are not counted for every collection.",
			Detail: "Chunks marked as not known are not counted; the Heat page shows why."}
	}
	return api.State{}
}
