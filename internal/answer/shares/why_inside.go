package shares

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// insideWhy divides one collection's part into projects or chunks.
type insideWhy struct {
	*shardWhy
	c       *topology.Collection
	a       data.ChunkAmounts
	whole   whyPart
	spans   []answer.ZoneSpan
	byKey   bool        // the shard key begins with the project
	written []heat.Line // of writes: by project and chunk
}

func (w *shardWhy) newInside(c *topology.Collection, a data.ChunkAmounts, whole whyPart) *insideWhy {
	in := &insideWhy{shardWhy: w, c: c, a: a, whole: whole, spans: answer.ZoneSpansOf(w.v.Table, c), byKey: answer.LeadsWithProject(w.v, c)}
	if w.q.By == data.OfWrites {
		in.written = a.Window.ProjectChunks(w.v.Table, w.v.Profile)
	}
	return in
}

// divided tells whether the collection can be divided into projects: of writes, by who wrote; of
// data, by estimated sizes or by ranges of the key.
func (in *insideWhy) divided() bool {
	if in.q.By == data.OfWrites {
		return len(in.written) > 0
	}
	return in.v.Dir.Loaded()
}

// projectRange is the chunks [from, to) that hold rows of one project alone.
func (in *insideWhy) projectRange(id bson.ObjectID) (from, to int) {
	r, err := in.c.Key.PrefixRange(in.v.Dir.Value(in.c.NS.Database(), id))
	if err != nil {
		return 0, 0
	}
	return answer.WholeChunks(in.c, r)
}

// projects are the parts of a collection by project. Chunks that several projects share are a part
// of their own: what each has of them is not known.
func (in *insideWhy) projects() whyParts {
	out := whyParts{noun: "projects", whole: &in.whole}
	if in.q.By == data.OfWrites {
		in.writers(&out)
		return out
	}
	if !in.byKey && in.q.Project != AllProjects {
		return out
	}
	if out, ok := in.estimatedProjects(); ok || !in.byKey {
		return out
	}
	alone, all := 0, in.c.Chunks.CountByShard()[in.q.Shard]
	shared := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "several", NS: string(in.c.NS),
		Opens: in.q.Of(in.q.By, in.c.NS, SeveralProjects).URL()},
		here: in.whole.here, even: in.whole.even}
	covered := 0
	for _, pr := range in.v.Dir.All() {
		if pr.DB != in.c.NS.Database() {
			continue
		}
		from, to := in.projectRange(pr.ID)
		if from == to {
			continue
		}
		covered += to - from
		p := in.projectPart(in.c.NS, pr.ID)
		p.Exact = in.a.Sure
		in.shardWhy.even.Parts(in.c, in.spans, from, to, func(i int, owner string, part float64) {
			x := in.a.Of(i, owner)
			p.even += x * part
			p.Exact = p.Exact && in.a.MeasuredOf(i)
			if owner == in.q.Shard {
				p.here += x
				p.Count++
			}
		})
		alone += p.Count
		shared.here, shared.even = shared.here-p.here, shared.even-p.even
		if p.here != 0 || p.even != 0 {
			in.projectRemedy(&p, pr.ID)
			out.add(p)
		}
	}
	if covered < in.c.Chunks.Len() {
		shared.Count = all - alone
		shared.Text = in.v.Profile.Words("in chunks that several projects share, ") + nounCount(shared.Count, "chunks") + " here"
		shared.WhyNot = in.v.Profile.Words("Several projects share these chunks: open them to see what can be done with each.")
		if shared.difference() <= 0 {
			shared.WhyNot = lessHere
		}
		out.add(shared)
	}
	return out
}

// writers are the parts of a collection's writes by project.
func (in *insideWhy) writers(out *whyParts) {
	parts := in.evenParts()
	at := map[bson.ObjectID]int{}
	for _, l := range in.written {
		i, ok := at[l.Project]
		if !ok {
			i = len(out.list)
			at[l.Project] = i
			p := in.projectPart(in.c.NS, l.Project)
			p.Exact, p.AtLeast = in.a.Sure, in.a.AtLeast
			out.add(p)
		}
		p := &out.list[i]
		p.even += l.Rate.PerSecond * parts(l.Chunk)
		if l.Shard == in.q.Shard {
			p.here += l.Rate.PerSecond
			p.Count++
		}
	}
	for id, i := range at {
		in.projectRemedy(&out.list[i], id)
	}
}

// evenParts gives the shard's even part of single chunks.
func (in *insideWhy) evenParts() func(i int) float64 {
	free := in.shardWhy.even.Part("")
	return func(i int) float64 {
		n, in1 := slices.BinarySearchFunc(in.spans, i, func(s answer.ZoneSpan, i int) int {
			switch {
			case s.To <= i:
				return -1
			case s.From > i:
				return 1
			}
			return 0
		})
		if !in1 {
			return free
		}
		return in.shardWhy.even.Part(in.spans[n].Zone)
	}
}

// chunksOf are the chunks of one project, or that it wrote to.
func (in *insideWhy) chunksOf(id bson.ObjectID) whyParts {
	if in.q.By == data.OfWrites {
		return in.chunksWritten(id)
	}
	if out, ok := in.estimatedChunks(id); ok {
		return out
	}
	from, to := in.projectRange(id)
	return in.chunks(func(i int) bool { return from <= i && i < to })
}

// chunksWritten are the chunks that a project wrote to.
func (in *insideWhy) chunksWritten(id bson.ObjectID) whyParts {
	out := whyParts{noun: "chunks"}
	parts := in.evenParts()
	elsewhere := in.elsewhere()
	for _, l := range in.written {
		switch {
		case l.Project != id:
		case l.Shard != in.q.Shard:
			elsewhere.even += l.Rate.PerSecond * parts(l.Chunk)
			elsewhere.Count++
		default:
			p := in.chunkPart(in.c, l.Chunk, l.Rate.PerSecond, l.Rate.PerSecond*parts(l.Chunk), in.a.Sure)
			p.AtLeast = in.a.AtLeast
			out.add(p)
		}
	}
	in.listed(&out, elsewhere)
	return out
}

// sharedChunks are the chunks that several projects share.
func (in *insideWhy) sharedChunks() whyParts {
	if !in.byKey {
		return in.chunks(nil)
	}
	alone := make([]bool, in.c.Chunks.Len())
	for _, pr := range in.v.Dir.All() {
		if pr.DB == in.c.NS.Database() {
			from, to := in.projectRange(pr.ID)
			for i := from; i < to; i++ {
				alone[i] = true
			}
		}
	}
	return in.chunks(func(i int) bool { return !alone[i] })
}

func (in *insideWhy) elsewhere() whyPart {
	return whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "elsewhere", NS: string(in.c.NS), AtLeast: in.a.AtLeast}}
}

// chunks are the shard's chunks, largest first; takes leaves some out and is nil for all. Those on
// other shards are one part: an even share of them would be here.
func (in *insideWhy) chunks(takes func(i int) bool) whyParts {
	out := whyParts{noun: "chunks"}
	if takes == nil {
		out.whole = &in.whole
	}
	top := largestChunks{most: in.q.Limit}
	elsewhere, others := in.elsewhere(), whyPart{}
	in.shardWhy.even.Parts(in.c, in.spans, 0, in.c.Chunks.Len(), func(i int, owner string, part float64) {
		if takes != nil && !takes(i) {
			return
		}
		x := in.a.Of(i, owner)
		if owner != in.q.Shard {
			elsewhere.even += x * part
			elsewhere.Count++
			return
		}
		if in.a.Others == nil && x == 0 {
			return // a chunk without writes makes no difference
		}
		others.here, others.even = others.here+x, others.even+x*part
		others.Count++
		top.add(chunkShare{i, x, x * part})
	})
	for _, x := range top.list {
		p := in.chunkPart(in.c, x.i, x.here, x.even, in.a.MeasuredOf(x.i))
		p.AtLeast = in.a.AtLeast
		others.here, others.even, others.Count = others.here-x.here, others.even-x.even, others.Count-1
		out.add(p)
	}
	if others.Count > 0 {
		others.ShardWhyPart = api.ShardWhyPart{Kind: "others", NS: string(in.c.NS), Count: others.Count, AtLeast: in.a.AtLeast,
			Text: "other, " + nounCount(others.Count, "chunks") + " here"}
		out.add(others)
	}
	in.listed(&out, elsewhere)
	return out
}

// listed adds what else is there, and what would help with each chunk.
func (in *insideWhy) listed(out *whyParts, elsewhere whyPart) {
	for i := range out.list {
		if p := &out.list[i]; p.Kind == "chunk" {
			in.chunkRemedy(p, in.c, p.Number-1)
		}
	}
	if elsewhere.Count > 0 && elsewhere.even != 0 {
		elsewhere.Text = "an even share of " + nounCount(elsewhere.Count, "chunks") + " on other shards"
		elsewhere.WhyNot = lessHere
		out.add(elsewhere)
	}
}

// chunkShare is a chunk's amount and the shard's even part of it.
type chunkShare struct {
	i          int
	here, even float64
}

// largestChunks keeps the largest of many, equal ones in key order.
type largestChunks struct {
	most int
	list []chunkShare
}

func (l *largestChunks) add(x chunkShare) {
	if len(l.list) == l.most && x.here <= l.list[l.most-1].here {
		return
	}
	at, _ := slices.BinarySearchFunc(l.list, x, func(a, b chunkShare) int {
		return cmp.Or(cmp.Compare(b.here, a.here), cmp.Compare(a.i, b.i))
	})
	if l.list = slices.Insert(l.list, at, x); len(l.list) > l.most {
		l.list = l.list[:l.most]
	}
}
