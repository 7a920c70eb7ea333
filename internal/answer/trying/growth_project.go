package trying

import (
	"cmp"
	"slices"

	"shardboard/internal/answer"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// addProject adds the growth of one project: to the chunks that can hold its rows, by what is estimated of it on
// each shard.
func (g *growthInput) addProject() error {
	if g.q.Project == "" {
		return nil
	}
	id, err := bson.ObjectIDFromHex(g.q.Project)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "project must be the id of a project, 24 hexadecimal digits.")
	}
	p, ok := g.v.Dir.ByID(id)
	if !ok {
		return fault.New(fault.Invalid, "project: there is no project with the id %s.", g.q.Project)
	}
	g.inputs.Project, g.inputs.ProjectName, g.inputs.Factor = p.ID.Hex(), answer.NameOf(p), g.q.Factor
	var missing []string
	parts := g.v.Holdings().Findings(p.DB, p.ID)
	for _, f := range parts {
		if f.Line == nil || !g.grow(f, p.ID) {
			missing = append(missing, string(f.Collection.NS))
		}
	}
	name := answer.PersonText(answer.NameOf(p))
	switch {
	case len(parts) == 0 || len(missing) == len(parts):
		g.notes = append(g.notes, "What "+name+" has on the shards is not estimated yet, so its growth is not in the figures.")
	case len(missing) > 0:
		g.notes = append(g.notes, "The growth of "+name+" is without "+answer.NamedText(missing)+", where what it has is not known.")
	}
	return nil
}

// grow adds the growth of a project in one collection. It is false where its place is not known.
func (g *growthInput) grow(f survey.Finding, id bson.ObjectID) bool {
	ns := f.Collection.NS
	at := slices.IndexFunc(g.from, func(c *topology.Collection) bool { return c.NS == ns })
	c := g.v.Table.Collection(ns)
	if at < 0 && c != nil && !c.Unsplittable {
		return false // its chunks are left out
	}
	placed := true
	for _, part := range f.Line.Shards {
		shard, ok := g.position[part.Shard]
		more := int64(float64(part.Bytes.Value) * (g.q.Factor - 1))
		switch {
		case !ok:
			placed = false
		case at < 0:
			g.in.Shards[shard].Grows += more
		default:
			placed = g.growChunks(at, shard, id, more) && placed
		}
	}
	return placed
}

// growChunks divides the growth on one shard by the size of the chunks there that can hold rows of the project.
func (g *growthInput) growChunks(at, shard int, id bson.ObjectID, more int64) bool {
	chunks := g.in.Collections[at].Chunks
	from, to := g.chunksOf(g.from[at], id)
	var sum float64
	last := -1
	for i := from; i < to; i++ {
		if chunks[i].Shard == shard {
			sum, last = sum+float64(chunks[i].Bytes)+1, i
		}
	}
	if last < 0 {
		return more == 0
	}
	left := more
	for i := from; i <= last; i++ {
		if chunks[i].Shard != shard {
			continue
		}
		part := int64(float64(more) * (float64(chunks[i].Bytes) + 1) / sum)
		if i == last {
			part = left
		}
		chunks[i].Grows += max(part, 0)
		left -= part
	}
	return true
}

// projectField is the field of a collection's rows that names their project; "" if there is none.
func (g *growthInput) projectField(c *topology.Collection) string {
	if g.v.Profile == nil {
		return ""
	}
	coll, _ := g.v.Profile.Collection(c.NS.Collection())
	return coll.ProjectField
}

// chunksOf are the positions of the chunks that can hold rows of a project: all of them unless the key begins
// with the project.
func (g *growthInput) chunksOf(c *topology.Collection, id bson.ObjectID) (from, to int) {
	if c.Key.LeadsWith(g.projectField(c)) {
		if r, err := c.Key.PrefixRange(g.v.Dir.Value(c.NS.Database(), id)); err == nil {
			return c.Chunks.Overlap(r)
		}
	}
	return 0, c.Chunks.Len()
}

const (
	unsplitLookedAt = 50 // largest projects
	unsplitListed   = 10
)

// unsplit are the largest projects in collections whose key is the project alone: all their rows of it stay
// together on one shard, however many shards there are.
func (g *growthInput) unsplit() []api.LabGrowthProject {
	out := []api.LabGrowthProject{}
	alone := map[topology.Namespace]bool{}
	for _, c := range g.from {
		if c.Key.Len() == 1 && c.Key.LeadsWith(g.projectField(c)) {
			alone[c.NS] = true
		}
	}
	s := g.v.Holdings()
	if s == nil || len(alone) == 0 {
		return out
	}
	for _, p := range s.Projects[:min(len(s.Projects), unsplitLookedAt)] {
		if p.ID.IsZero() {
			continue
		}
		for _, f := range s.Findings(p.DB, p.ID) {
			if f.Line == nil || !alone[f.Collection.NS] || f.Line.Bytes.Value == 0 {
				continue
			}
			named, _ := g.v.Dir.In(p.DB, p.ID)
			named.ID = p.ID
			one := api.LabGrowthProject{NS: string(f.Collection.NS), Project: p.ID.Hex(), Name: answer.NameOf(named),
				Bytes: answer.FigureOf(f.Line.Bytes.Figure(f.Collection.At))}
			for _, part := range f.Line.Shards {
				if part.Bytes.Value > 0 {
					one.Shard = part.Shard
				}
			}
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b api.LabGrowthProject) int { return cmp.Compare(*b.Bytes.Value, *a.Bytes.Value) })
	return out[:min(len(out), unsplitListed)]
}

// LargestProjects are the projects with most bytes by estimate; where nothing is estimated, the first by name.
func LargestProjects(v answer.View, most int) (out []placement.Project) {
	if s := v.Holdings(); s != nil {
		for _, p := range s.Projects {
			if one, ok := v.Dir.In(p.DB, p.ID); ok && len(out) < most {
				out = append(out, one)
			}
		}
	}
	if len(out) == 0 {
		all := v.Dir.All()
		out = append(out, all[:min(len(all), most)]...)
	}
	return out
}
