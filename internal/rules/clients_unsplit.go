package rules

import (
	"cmp"
	"slices"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// unsplitChunks is from how many chunk sizes on a project in one chunk is large,
// and unsplitMuch from how many it is a burden.
const (
	unsplitChunks = 2
	unsplitMuch   = 16
)

// clientsUnsplit: a key that could spread a project, and large projects in one
// chunk each: MongoDB never cuts them by itself.
func clientsUnsplit(l *look) {
	if l.Profile == nil {
		return
	}
	for _, c := range l.sharded() {
		f, ok := l.projectField(c)
		if !ok || c.Key.Len() < 2 || !c.Key.LeadsWith(f) {
			continue
		}
		size := l.chunkBytes(c)
		total, rows := l.sizeOf(c, bytesOf), l.sizeOf(c, docsOf)
		switch {
		case size <= 0:
			l.cannot(string(c.NS), "noChunkSize")
			continue
		case !total.Known:
			l.cannot(string(c.NS), "noSizes")
			continue
		case total.Value < unsplitChunks*size:
			continue
		}
		l.largeProjects(c, size, total, rows)
	}
}

type large struct {
	p     placement.Project
	bytes topology.Figure
	ch    topology.Chunk
}

func (l *look) largeProjects(c *topology.Collection, size int64, total, rows topology.Figure) {
	if l.Directory == nil || !l.Directory.Loaded() {
		l.cannot(string(c.NS), "noProjects")
		return
	}
	var list []large
	known, projects := 0, 0
	for _, p := range l.Directory.All() {
		if p.DB != c.NS.Database() {
			continue
		}
		projects++
		bytes := l.projectBytes(c, p, total, rows)
		if !bytes.Known {
			continue
		}
		known++
		r, err := c.Key.PrefixRange(placement.ObjectIDValue(p.ID))
		if err != nil || bytes.Value < unsplitChunks*size {
			continue
		}
		if from, to := c.Chunks.Overlap(r); to-from == 1 {
			list = append(list, large{p, bytes, c.Chunks.At(from)})
		}
	}
	slices.SortStableFunc(list, func(a, b large) int { return cmp.Compare(b.bytes.Value, a.bytes.Value) })
	for _, x := range list[:min(len(list), 5)] {
		l.unsplit(c, size, x)
	}
	if known < projects && len(list) == 0 {
		l.cannot(string(c.NS), "noProjectSizes", "n", itoa(projects-known))
	}
}

// projectBytes is a project's part of a collection: surveyed, or the clients
// that the application counted times the mean row.
func (l *look) projectBytes(c *topology.Collection, p placement.Project, total, rows topology.Figure) topology.Figure {
	if l.Surveyed != nil {
		if f := l.Surveyed(c.NS, p.ID.Hex()); f.Known {
			return f
		}
	}
	coll, _ := l.Profile.Collection(c.NS.Collection())
	if coll.Kind != "client" || !p.Clients.Known || !rows.Known || rows.Value == 0 {
		return topology.Figure{Reason: "notSurveyed"}
	}
	return topology.Figure{Known: true, Value: int64(float64(p.Clients.Value) * float64(total.Value) / float64(rows.Value)), Method: "clientsTimesMean", At: p.Clients.At}
}

func (l *look) unsplit(c *topology.Collection, size int64, x large) {
	ns, id := string(c.NS), x.p.ID.Hex()
	i := Problem{Subject: ns + " " + id, NS: c.NS, Project: id, Shard: x.ch.Shard, Severity: Info, Why: say("unsplit.some"), Weight: float64(x.bytes.Value),
		Text: say("unsplit", "name", x.p.Name, "ns", ns, "bytes", i64(x.bytes.Value), "shard", x.ch.Shard, "field", c.Key.Fields()[1].Name),
		Evidence: []Evidence{
			figure(say("unsplit.bytes", "name", x.p.Name), "bytes", x.bytes),
			{Name: say("chunkSize"), Unit: "bytes", Known: true, Value: float64(size), Exact: true, Method: "routing", At: l.Table.Health[topology.PartSettings].At},
			l.counted("unsplit.chunks", 1), l.text("hot.shard", x.ch.Shard, topology.PartRouting),
		}}
	if x.p.Clients.Known {
		i.Evidence = append(i.Evidence, figure(say("unsplit.clients"), "count", x.p.Clients))
	}
	if x.bytes.Value >= unsplitMuch*size {
		i.Severity, i.Why = Warn, say("unsplit.much")
	}
	i.Remedy.Plans = []Plan{
		plan("split-project", say("split-project", "name", x.p.Name), "project", id, "db", c.NS.Database(), "ns", ns),
		plan("spread", say("spread", "name", x.p.Name), "project", id, "db", c.NS.Database()),
	}
	l.add(i)
}
