package rules

import (
	"cmp"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// unsplitChunks is from how many chunk sizes on a project in one chunk is large,
// and unsplitMuch from how many it is a burden.
const (
	unsplitChunks = 2
	unsplitMuch   = 16
)

// ClientsUnsplit finds large projects in one chunk where the key could spread them. MongoDB does
// not split them by itself.
const ClientsUnsplit Rule = "clients-unsplit"

var clientsUnsplit = rule{id: ClientsUnsplit, name: "Large project in one chunk", find: findClientsUnsplit,
	playbooks: []Playbook{PlaybookJumboChunk}}

func findClientsUnsplit(ev *evaluation) {
	if ev.Profile == nil {
		return
	}
	for _, c := range ev.sharded() {
		f, ok := ev.projectField(c)
		if !ok || c.Key.Len() < 2 || !c.Key.LeadsWith(f) {
			continue
		}
		size := ev.chunkBytes(c)
		total, rows := ev.sizeOf(c, bytesOf), ev.sizeOf(c, docsOf)
		switch {
		case size <= 0:
			ev.cannot(string(c.NS), unknownChunkSize())
			continue
		case !total.Known:
			ev.cannot(string(c.NS), unknownSizes())
			continue
		case total.Value < unsplitChunks*size:
			continue
		}
		ev.largeProjects(c, size, total, rows)
	}
}

// large is a project that fills one chunk.
type large struct {
	p     placement.Project
	bytes topology.Figure
	ch    topology.Chunk
}

func (ev *evaluation) largeProjects(c *topology.Collection, size int64, total, rows topology.Figure) {
	if ev.Directory == nil || !ev.Directory.Loaded() {
		ev.cannot(string(c.NS), unknownProjects())
		return
	}
	var list []large
	known, projects := 0, 0
	for _, p := range ev.Directory.All() {
		if p.DB != c.NS.Database() {
			continue
		}
		projects++
		bytes := ev.projectBytes(c, p, total, rows)
		if !bytes.Known {
			continue
		}
		known++
		r, err := c.Key.PrefixRange(p.IDValue())
		if err != nil || bytes.Value < unsplitChunks*size {
			continue
		}
		if from, to := c.Chunks.Overlap(r); to-from == 1 {
			list = append(list, large{p, bytes, c.Chunks.At(from)})
		}
	}
	slices.SortStableFunc(list, func(a, b large) int { return cmp.Compare(b.bytes.Value, a.bytes.Value) })
	for _, x := range list[:min(len(list), 5)] {
		ev.unsplit(c, size, x)
	}
	if known < projects && len(list) == 0 {
		ev.cannot(string(c.NS), message.New("noProjectSizes",
			message.Plural(projects-known,
				"The size of 1 project is not known: no count is stored with it, and no survey has measured it.",
				"The size of {n} projects is not known: no count is stored with them, and no survey has measured them."),
			message.Count("n", projects-known)))
	}
}

// projectBytes is a project's part of a collection: surveyed, or the clients
// that the application counted times the mean row.
func (ev *evaluation) projectBytes(c *topology.Collection, p placement.Project, total, rows topology.Figure) topology.Figure {
	if ev.Surveyed != nil {
		if f := ev.Surveyed(c.NS, p.ID.Hex()); f.Known {
			return f
		}
	}
	coll, _ := ev.Profile.Collection(c.NS.Collection())
	if coll.Kind != "client" || !p.Clients.Known || !rows.Known || rows.Value == 0 {
		return topology.Figure{Reason: "notSurveyed"}
	}
	mean := float64(total.Value) / float64(rows.Value)
	return topology.Figure{Known: true, Value: int64(float64(p.Clients.Value) * mean), Method: "clientsTimesMean", At: p.Clients.At}
}

func (ev *evaluation) unsplit(c *topology.Collection, size int64, x large) {
	ns, id := string(c.NS), x.p.ID.Hex()
	problem := Problem{
		Subject:  ns + " " + id,
		NS:       c.NS,
		Project:  id,
		Shard:    x.ch.Shard,
		Severity: Info,
		Why:      message.New("unsplit.some", "It is as large as a few chunks."),
		Weight:   float64(x.bytes.Value),
		Text: message.New("unsplit",
			"The project {name} has {bytes} of {ns} in one chunk on {shard}. The key could spread it by "+
				"{field}, but MongoDB does not split it by itself.",
			message.Project("name", id, x.p.Name), message.Namespace("ns", ns),
			message.Bytes("bytes", x.bytes.Value), message.Shard("shard", x.ch.Shard),
			message.Text("field", c.Key.Fields()[1].Name)),
		Evidence: []Evidence{
			figure(message.New("unsplit.bytes", "Data of {name}", message.Project("name", id, x.p.Name)), "bytes", x.bytes),
			{Name: message.New("chunkSize", "Chunk size"), Unit: "bytes", Known: true, Value: float64(size), Exact: true,
				Method: "routing", At: ev.Table.Health[topology.PartSettings].At},
			ev.counted(message.New("unsplit.chunks", "Chunks that hold it"), 1),
			ev.onShard(x.ch.Shard, topology.PartRouting),
		},
	}
	if x.p.Clients.Known {
		problem.Evidence = append(problem.Evidence, figure(message.New("unsplit.clients", "Clients"), "count", x.p.Clients))
	}
	if x.bytes.Value >= unsplitMuch*size {
		problem.Severity, problem.Why = Warn, message.New("unsplit.much",
			"It is as large as many chunks and cannot be moved in pieces.")
	}
	problem.Remedy.Plans = []Plan{
		plan("split-project", message.New("split-project",
			"Split off the chunk of the project {name}, so that it can be moved without its neighbours.",
			message.Project("name", id, x.p.Name)), "project", id, "db", c.NS.Database(), "ns", ns),
		plan("spread", message.New("spread",
			"Spread the project {name} over the shards where its key allows that.",
			message.Project("name", id, x.p.Name)), "project", id, "db", c.NS.Database()),
	}
	ev.add(problem)
}
