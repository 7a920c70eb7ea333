package spread

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Orders of the list of projects: by name, or the largest, hottest, widest or newest first.
const (
	ProjectsByName      = "name"
	ProjectsByDocuments = "documents"
	ProjectsByBytes     = "bytes"
	ProjectsByWrites    = "writes"
	ProjectsByShards    = "shards"
	ProjectsByCreation  = "created"
)

var projectOrders = []string{ProjectsByName, ProjectsByDocuments, ProjectsByBytes, ProjectsByWrites, ProjectsByShards, ProjectsByCreation}

// figuresOfProjects are what is known of all projects of a view: their sizes, their writes and what marks them.
type figuresOfProjects struct {
	v      answer.View
	bytes  *projectSizes
	writes *matrixWrites
	hot    map[string]bool // ids of projects that a problem of writes is about
}

func newProjectFigures(v answer.View) figuresOfProjects {
	return figuresOfProjects{v: v, bytes: &projectSizes{t: v.Table, from: v.Holdings()}, writes: newMatrixWrites(v, v.Counts),
		hot: hotProjects(v)}
}

// hotProjects are the ids of projects that a problem of writes is about.
func hotProjects(v answer.View) map[string]bool {
	out := map[string]bool{}
	for _, p := range problems.Problems(v).Items {
		for _, x := range append([]rules.Problem{p}, p.Consequences...) {
			if x.Project != "" && slices.Contains([]rules.Rule{rules.HotProject, rules.HotChunk, rules.HotDocument, rules.HotShard}, x.Rule) {
				out[x.Project] = true
			}
		}
	}
	return out
}

// fill is a project with its figures.
func (f figuresOfProjects) fill(sp placement.Spread) api.Project {
	out := projectOf(sp)
	ref := refOf(sp.Project)
	out.Bytes, out.Writes = f.bytesOf(ref).figure(f.v.Now), f.writesOf(ref).rate(f.v.Now)
	out.Shards, out.Marks = ownShards(sp), []string{}
	if f.hot[out.ID] {
		out.Marks = append(out.Marks, "hot")
	}
	if _, pinned := answer.ZoneExists(f.v.Table, answer.PinZone(sp.Project.ID)); pinned {
		out.Marks = append(out.Marks, "pinned")
	}
	for _, c := range sp.Collections {
		if c.Basis == placement.BasisKeyPrefix && slices.ContainsFunc(c.Chunks, func(ch topology.Chunk) bool { return ch.Jumbo }) {
			out.Marks = append(out.Marks, "oversized")
			break
		}
	}
	return out
}

func (f figuresOfProjects) bytesOf(ref projectRef) amount {
	switch {
	case f.v.Past != nil:
		return unknownAmount("notKept", f.v.Profile.Words("Sizes of past times are not kept by project."))
	case f.bytes.from == nil:
		return unknownAmount("notSurveyed", "Not estimated yet.")
	}
	if a, ok := f.bytes.sum(ref); ok {
		return a
	}
	return unknownAmount("noneSeen", noneSeen)
}

func (f figuresOfProjects) writesOf(ref projectRef) amount {
	l := matrixLine{shards: f.writes.project(ref)}
	l.sum()
	return l.total
}

// writesText says how much a project writes and which shards take it.
func (f figuresOfProjects) writesText(ref projectRef) message.Message {
	shards := f.writes.project(ref)
	l := matrixLine{shards: shards}
	l.sum()
	if !l.total.known || l.total.at.IsZero() {
		return message.Message{} // the table of the list says why
	}
	span, at := message.Duration("span", f.v.WritesWindow()), message.Words("at", format.Clock(l.total.at))
	if l.total.value == 0 {
		return message.New("project.noWrites", "No writes were counted in the {span} before {at}.", span, at)
	}
	type part struct {
		shard string
		share float64
	}
	var parts []part
	for i, a := range shards {
		if share := a.value / l.total.value; a.known && share >= 0.005 {
			parts = append(parts, part{f.v.Table.Shards[i].Name, share})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.share, a.share) })
	words := answer.Map(parts[:min(len(parts), writersNamed)], func(p part) string { return format.Share(p.share) + " on " + p.shard })
	if more := len(parts) - writersNamed; more > 0 {
		words = append(words, message.Plural(more, "the rest on another shard", "the rest on "+strconv.Itoa(more)+" more shards"))
	}
	return message.New("project.writes", "{rate} writes/s in the {span} before {at}, {where}.",
		message.Words("rate", l.total.text(format.PerSecond)), span, at, message.Words("where", format.JoinWords(words)))
}

// writersNamed is how many of the shards that take a project's writes its sentence names.
const writersNamed = 3

// sorted is the list in an order; what is not known comes last.
func (f figuresOfProjects) sorted(list []placement.Project, p *profile.Profile, by string) []placement.Project {
	if by == "" {
		return list
	}
	type keyed struct {
		placement.Project
		key float64
	}
	out := make([]keyed, len(list))
	for i, pr := range list {
		out[i] = keyed{pr, f.key(pr, p, by)}
	}
	slices.SortStableFunc(out, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.key, a.key), natural.Compare(answer.NameOf(a.Project), answer.NameOf(b.Project)))
	})
	return answer.Map(out, func(k keyed) placement.Project { return k.Project })
}

// key is what a project is sorted by: more comes first.
func (f figuresOfProjects) key(p placement.Project, prof *profile.Profile, by string) float64 {
	known := func(a amount) float64 {
		if !a.known {
			return -1
		}
		return a.value
	}
	switch ref := refOf(p); by {
	case ProjectsByDocuments:
		if n := answer.FigureOf(p.Documents).Value; n != nil {
			return float64(*n)
		}
		return -1
	case ProjectsByBytes:
		return known(f.bytesOf(ref))
	case ProjectsByWrites:
		return f.writes.rank(ref)
	case ProjectsByShards:
		return float64(len(ownShards(placement.SpreadOf(f.v.Table, prof, p))))
	case ProjectsByCreation:
		return float64(p.CreatedAt.Unix())
	}
	return 0
}

// ownShards are those that have chunks of a project in the collections whose key begins with it.
func ownShards(sp placement.Spread) []string {
	on := map[string]bool{}
	for _, c := range sp.Collections {
		for _, s := range c.Shards {
			if c.Basis == placement.BasisKeyPrefix {
				on[s.Shard] = true
			}
		}
	}
	return natural.Sorted(maps.Keys(on))
}
