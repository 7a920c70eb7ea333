package web

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// collectionView answers "how is the key space cut?".
func collectionView(v View, ns topology.Namespace, q chunkQuery) (templates.Collection, error) {
	t := v.Table
	c := t.Collection(ns)
	if c == nil {
		if slices.Contains(t.Unsharded, ns) {
			return templates.Collection{}, fault.New(fault.NotFound,
				"%s is not sharded: all of it is on shard %s, the primary of database %s.", sanitize.Truncate(string(ns), 200), t.Primary(ns.Database()), ns.Database())
		}
		return templates.Collection{}, fault.New(fault.NotFound, "There is no sharded collection %q. Names are database.collection.", sanitize.Truncate(string(ns), 200))
	}
	m := templates.Collection{NS: string(ns), DB: ns.Database(), Name: ns.Collection(), URL: collectionURL(ns), Key: c.Key.String(), Flags: collectionFlags(c)}
	r, shards := refsOf(t), shardRefs(t)
	strip, lanes := stripView(c, r, shards)
	m.Strip = strip
	m.Lanes = lanesView(t, c, shards, lanes)
	m.Facts = collectionFacts(v, c)
	if q.Page < 2 { // further pages are of chunks alone
		m.Failed = failedOf(v, ns, nil)
	}
	m.Total, m.Bytes = m.Facts[2].Figure, m.Facts[0].Figure
	m.Total.Text = words.Plural("chunks", int64(c.Chunks.Len()), "n", m.Total.Text)
	m.Zoned = len(t.ZonesOf(ns)) > 0
	m.Moving = inFlightView(v, t.MovingOf(ns), flightsListed)
	chunkRows(v, c, q, r, &m)
	return m, nil
}

// lanesView is one line per shard below the strip: where its chunks are, how
// many, how many bytes.
func lanesView(t *topology.Table, c *topology.Collection, shards []templates.ShardRef, lanes map[string]string) []templates.Lane {
	counts := c.Chunks.CountByShard()
	out := make([]templates.Lane, 0, len(shards))
	for _, s := range shards {
		n := counts[s.Name]
		l := templates.Lane{Shard: s, D: lanes[s.Name], Bytes: bytesFigure(t.SizeOn(c.NS, s.Name).Bytes)}
		l.Chunks = templates.Cell{Figure: templates.Figure{Known: true, Text: words.Plural("chunks", int64(n), "n", format.Count(int64(n))), Title: words.T("method.routing")},
			ShareText: format.Share(share(int64(n), int64(c.Chunks.Len())))}
		out = append(out, l)
	}
	return out
}

func collectionFacts(v View, c *topology.Collection) []templates.Fact {
	bytes, docs, _ := sizeOf(v.Table, c.NS)
	facts := []templates.Fact{
		{Name: words.T("col.data"), Figure: bytesFigure(bytes)},
		{Name: words.T("col.documents"), Figure: countFigure(docs)},
		{Name: words.T("col.chunks"), Figure: exact(c.Chunks.Len())},
	}
	if bytes.Known && c.Chunks.Len() > 0 {
		per := bytes
		per.Value /= int64(c.Chunks.Len())
		facts = append(facts, templates.Fact{Name: words.T("fact.perchunk"), Figure: bytesFigure(per)})
	}
	if sharded(c) {
		facts = append(facts, orphansFact(v.Table.OrphansOf(c.NS, v.Now)))
	}
	limit := c.MaxChunkBytes
	if limit == 0 {
		limit = v.Table.Balancer.ChunkBytes
	}
	if limit > 0 {
		facts = append(facts, templates.Fact{Name: words.T("balancer.chunksize"), Figure: templates.Figure{Known: true, Text: format.Bytes(limit)}})
	}
	return append(facts,
		templates.Fact{Name: words.T("fact.version"), Figure: templates.Figure{Known: true, Text: format.Version(c.Highest.Major, c.Highest.Minor), Title: words.T("fact.version.title")}},
		templates.Fact{Name: words.T("fact.primary"), Figure: primaryFact(v.Table, c.NS)})
}

func primaryFact(t *topology.Table, ns topology.Namespace) templates.Figure {
	if p := t.Primary(ns.Database()); p != "" {
		return templates.Figure{Known: true, Text: p}
	}
	return templates.Figure{Text: topology.ReasonText("notLoaded")}
}

// chunkRow is one chunk for a table.
func chunkRow(v View, p shardkey.Pattern, i int, ch topology.Chunk, r refs) templates.ChunkRow {
	row := templates.ChunkRow{
		Key: chunkKey(p, ch.Min), N: i + 1, Shard: r.of(ch.Shard), Jumbo: ch.Jumbo,
		Min: bound(p, ch.Min), Max: bound(p, ch.Max),
		Version: format.Version(ch.Version.Major, ch.Version.Minor),
	}
	if ch.Since.T == 0 {
		row.Since = templates.Moment{Text: format.Unknown}
	} else {
		row.Since = templates.Ago(time.Unix(int64(ch.Since.T), 0), v.Now)
	}
	return row
}

// chunkKey is a short name for a chunk within a page: a hash of its lower
// bound, which is its identity; opaque where bounds are hidden, for a plain hash
// can be compared with that of a guess.
func chunkKey(p shardkey.Pattern, min shardkey.Key) string {
	if hiding := p.Hiding(); hiding != nil {
		return hiding.Name(min.Encoded())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(min.Encoded())) // a hash does not fail
	return strconv.FormatUint(h.Sum64()>>16, 36)
}
