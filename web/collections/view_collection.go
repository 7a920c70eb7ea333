package collections

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// collectionView answers "how is the key space cut?".
func CollectionView(v answer.View, ns topology.Namespace, q answer.ChunkQuery) (Collection, error) {
	t := v.Table
	c := t.Collection(ns)
	if c == nil {
		if slices.Contains(t.Unsharded, ns) {
			return Collection{}, fault.New(fault.NotFound,
				"%s is not sharded: all of it is on shard %s, the primary of database %s.", sanitize.Truncate(string(ns), 200), t.Primary(ns.Database()), ns.Database())
		}
		return Collection{}, fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(ns), 200))
	}
	m := Collection{NS: string(ns), DB: ns.Database(), Name: ns.Collection(), URL: answer.CollectionURL(ns), Key: c.Key.String(), Flags: collectionFlags(c)}
	r, shards := parts.RefsOf(t), parts.ShardRefs(t)
	strip, lanes := parts.StripView(c, r, shards)
	m.Strip = strip
	m.Lanes = lanesView(t, c, shards, lanes)
	m.Facts = collectionFacts(v, c)
	if q.Page < 2 { // further pages are of chunks alone
		m.Failed = parts.FailedOf(v, ns, nil)
	}
	m.Total, m.Bytes = m.Facts[2].Figure, m.Facts[0].Figure
	m.Total.Text = message.Plural(int64(c.Chunks.Len()), m.Total.Text+" chunk", m.Total.Text+" chunks")
	m.Zoned = len(t.ZonesOf(ns)) > 0
	m.Moving = parts.InFlightView(v, t.MovingOf(ns), answer.FlightsListed)
	chunkRows(v, c, q, r, &m)
	return m, nil
}

// lanesView is one line per shard below the strip: where its chunks are, how
// many, how many bytes.
func lanesView(t *topology.Table, c *topology.Collection, shards []templates.ShardRef, lanes map[string]string) []Lane {
	counts := c.Chunks.CountByShard()
	out := make([]Lane, 0, len(shards))
	for _, s := range shards {
		n := counts[s.Name]
		l := Lane{Shard: s, D: lanes[s.Name], Bytes: parts.BytesFigure(t.SizeOn(c.NS, s.Name).Bytes)}
		l.Chunks = templates.Cell{Figure: templates.Figure{Known: true, Text: message.Plural(int64(n), format.Count(int64(n))+" chunk", format.Count(int64(n))+" chunks"), Title: "Counted in the routing table"},
			ShareText: format.Share(answer.Share(int64(n), int64(c.Chunks.Len())))}
		out = append(out, l)
	}
	return out
}

func collectionFacts(v answer.View, c *topology.Collection) []templates.Fact {
	bytes, docs, _ := answer.SizeOf(v.Table, c.NS)
	facts := []templates.Fact{
		{Name: "Data", Figure: parts.BytesFigure(bytes)},
		{Name: "Documents", Figure: parts.CountFigure(docs)},
		{Name: "Chunks", Figure: parts.Exact(c.Chunks.Len())},
	}
	if bytes.Known && c.Chunks.Len() > 0 {
		per := bytes
		per.Value /= int64(c.Chunks.Len())
		facts = append(facts, templates.Fact{Name: "Data per chunk", Figure: parts.BytesFigure(per)})
	}
	if answer.Sharded(c) {
		facts = append(facts, parts.OrphansFact(answer.OrphansOf(v.Table.OrphansOf(c.NS, v.Now))))
	}
	limit := c.MaxChunkBytes
	if limit == 0 {
		limit = v.Table.Balancer.ChunkBytes
	}
	if limit > 0 {
		facts = append(facts, templates.Fact{Name: "Chunk size", Figure: templates.Figure{Known: true, Text: format.Bytes(limit)}})
	}
	return append(facts,
		templates.Fact{Name: "Version", Figure: templates.Figure{Known: true, Text: format.Version(c.Highest.Major, c.Highest.Minor), Title: "The highest chunk version: major grows with each move, minor with each split or merge."}},
		templates.Fact{Name: "Database primary", Figure: primaryFact(v.Table, c.NS)})
}

func primaryFact(t *topology.Table, ns topology.Namespace) templates.Figure {
	if p := t.Primary(ns.Database()); p != "" {
		return templates.Figure{Known: true, Text: p}
	}
	return templates.Figure{Text: topology.ReasonText("notLoaded")}
}
