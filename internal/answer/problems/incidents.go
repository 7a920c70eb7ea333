package problems

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// About chooses incidents: problems of writes with what follows from them. Empty fields do not count.
type About struct {
	Shard, Project string
	NS             topology.Namespace
	Chunk          string // its reference in NS
}

// IncidentsAbout are the open problems of writes that are about a shard, a project or a collection, by themselves or by
// one of their consequences, each with what helps against it.
func IncidentsAbout(v answer.View, a About, try offering.TryPlan) []api.Incident {
	about := func(p rules.Problem) bool {
		return (a.Shard == "" || p.Shard == a.Shard) && (a.Project == "" || p.Project == a.Project) && (a.NS == "" || p.NS == a.NS) &&
			(a.Chunk == "" || !p.Chunk.IsZero() && v.Table.Collection(p.NS) != nil && answer.ChunkRef(v.Table.Collection(p.NS), p.Chunk) == a.Chunk)
	}
	var out []api.Incident
	for _, p := range Problems(v).Items {
		if p.Rule.OfWrites() && (about(p) || slices.ContainsFunc(p.Consequences, about)) {
			out = append(out, incidentOf(v, p, try))
		}
	}
	return out
}

// IncidentsOfShard are the worst of the open problems about a shard, whatever its rule, and the problems of
// writes about it, the greatest first.
func IncidentsOfShard(v answer.View, name string, try offering.TryPlan) []api.Incident {
	out := IncidentsAbout(v, About{Shard: name}, try)
	about := func(p rules.Problem) bool { return p.Shard == name }
	for _, p := range Problems(v).Items {
		if !about(p) && !slices.ContainsFunc(p.Parts, about) && !slices.ContainsFunc(p.Consequences, about) {
			continue
		}
		if !p.Rule.OfWrites() && answer.NotReached(v.Table).Code == "" { // else the header says what is wrong
			out = slices.Insert(out, 0, incidentOf(v, p, try))
		}
		break // the greatest is first
	}
	return out
}

// alsoText names the rules of a problem's consequences: "Hot shard, Hot chunk".
func alsoText(p rules.Problem) string {
	var names []string
	for _, x := range p.Consequences {
		if name := x.Rule.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// picturedMinutes is how many minutes the picture of a problem of writes has.
const picturedMinutes = 60

// lastHour are the writes per second that a problem is about, in each full minute of the last hour, the newest last;
// nil where a minute was not counted.
func lastHour(v answer.View, p rules.Problem) []*float64 {
	v = v.Computable()
	if v.Counts == nil || v.Past != nil || !p.Rule.OfWrites() || p.Count > 0 {
		return nil
	}
	end := v.Now.Truncate(time.Minute)
	out := make([]*float64, picturedMinutes)
	line := heat.Line{Chunk: -1}
	spaces := v.Counts.Counted(v.Table)
	switch p.Rule {
	case rules.HotShard:
		line.Shard = p.Shard
	case rules.HotProject:
		line.Project, _ = bson.ObjectIDFromHex(p.Project)
	case rules.HotDocument:
		line.Document = v.Counts.Window(p.NS, picturedMinutes*time.Minute).DocumentOf(p.Document)
	}
	if p.Rule == rules.HotChunk || p.Rule == rules.MonotonicKey || line == (heat.Line{Chunk: -1}) {
		c := v.Table.Collection(p.NS)
		if c == nil || c.Chunks.Len() == 0 {
			return nil
		}
		if line.Chunk = c.Chunks.Len() - 1; p.Rule != rules.MonotonicKey {
			line.Chunk, _ = c.Chunks.Find(p.Chunk)
		}
		spaces = []topology.Namespace{p.NS}
	}
	for i := range out {
		to := end.Add(time.Duration(i+1-picturedMinutes) * time.Minute)
		for _, ns := range spaces {
			w := v.Counts.Between(ns, to.Add(-time.Minute), to)
			if w.Seconds < 30 {
				continue
			}
			if out[i] == nil {
				out[i] = new(float64)
			}
			*out[i] += w.Of(v.Table, v.Profile, line).PerSecond
		}
	}
	return out
}
