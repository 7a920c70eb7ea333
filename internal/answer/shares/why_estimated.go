package shares

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
)

// estimatedProjects are the parts of a collection's data by project, from the sizes that are estimated
// all the time; false where no listed project was seen. Nothing of it depends on which project has
// chunks alone.
func (in *insideWhy) estimatedProjects() (whyParts, bool) {
	out := whyParts{noun: "projects", whole: &in.whole}
	if in.q.By == data.OfWrites || !in.v.Dir.Loaded() {
		return out, false
	}
	list, how := in.v.Holdings().ProjectsOn(in.c.NS, in.q.Shard)
	slices.SortFunc(list, func(a, b holdings.ProjectHere) int { return strings.Compare(a.ID.Hex(), b.ID.Hex()) })
	for _, x := range list {
		if _, ok := in.v.Dir.In(in.c.NS.Database(), x.ID); !ok {
			continue
		}
		if p := in.estimatedPart(x); p.here != 0 || p.even != 0 {
			p.ReadAt = api.Time(how.At)
			out.add(p)
		}
	}
	if len(out.list) == 0 {
		return out, false
	}
	in.out.Estimate = in.v.Profile.Words("What each project has is estimated from ") + format.Count(how.Read) + " rows read " +
		format.Clock(how.Oldest) + " to " + format.Clock(how.At) + "."
	chunks := SeveralProjects
	if !in.byKey {
		chunks = ""
	}
	in.out.ByChunk = in.q.Of(in.q.By, in.c.NS, chunks).URL()
	return out, true
}

// estimable tells whether rows that are placed by document can be divided by project too.
func (in *insideWhy) estimable() bool {
	if in.byKey || in.q.By == data.OfWrites || !in.v.Dir.Loaded() {
		return false
	}
	list, _ := in.v.Holdings().ProjectsOn(in.c.NS, in.q.Shard)
	return len(list) > 0
}

// estimatedPart is a project as a part by its estimated size.
func (in *insideWhy) estimatedPart(x holdings.ProjectHere) whyPart {
	of := func(w survey.Weight) survey.Estimate {
		if in.q.By == data.OfDocuments {
			return w.Rows
		}
		return w.Bytes
	}
	here, all := of(x.Here), of(x.All)
	p := in.projectPart(in.c.NS, x.ID)
	p.here, p.even, p.Exact, p.AtLeast = float64(here.Value), float64(all.Value)*in.evenPartOf(x.ID), here.Exact, here.AtLeast
	if !here.Exact && here.High > here.Low {
		low, high := float64(here.Low), float64(here.High)
		p.Low, p.High = &low, &high
	}
	p.Page = answer.ProjectShardURL(x.ID.Hex(), in.q.Shard)
	if !in.byKey {
		p.Opens = ""
		p.remedy = func(p *whyPart) {
			p.WhyNot = in.v.Profile.Words("Its rows are in chunks that several projects share: " +
				"no plan moves one project alone.")
		}
		return p
	}
	from, to := in.projectRange(x.ID)
	for i := from; i < to; i++ {
		if in.c.Chunks.Owner(i) == in.q.Shard {
			p.Count++
		}
	}
	if p.Count == 0 {
		p.Opens = ""
	}
	in.projectRemedy(&p, x.ID)
	return p
}

// evenPartOf is the shard's even part of a project: of the chunks that can have rows of it, or of the
// whole collection.
func (in *insideWhy) evenPartOf(id bson.ObjectID) float64 {
	if in.byKey {
		if r, err := in.c.Key.PrefixRange(in.v.Dir.Value(in.c.NS.Database(), id)); err == nil {
			sum, n := 0.0, 0
			from, to := in.c.Chunks.Overlap(r)
			in.shardWhy.even.Parts(in.c, in.spans, from, to, func(_ int, _ string, part float64) { sum, n = sum+part, n+1 })
			if n > 0 {
				return sum / float64(n)
			}
		}
	}
	if total := in.a.Total(); total > 0 {
		return in.whole.even / total
	}
	return in.shardWhy.even.Part("")
}

// estimatedChunks are the chunks that one project has alone, as parts of its estimated size; false
// without an estimate.
func (in *insideWhy) estimatedChunks(id bson.ObjectID) (whyParts, bool) {
	if in.q.By == data.OfWrites {
		return whyParts{}, false
	}
	list, _ := in.v.Holdings().ProjectsOn(in.c.NS, in.q.Shard)
	i := slices.IndexFunc(list, func(x holdings.ProjectHere) bool { return x.ID == id })
	if i < 0 || !in.byKey {
		return whyParts{}, false
	}
	whole := in.estimatedPart(list[i])
	from, to := in.projectRange(id)
	out := in.chunks(func(i int) bool { return from <= i && i < to })
	out.whole, out.left = &whole, "in chunks shared with other projects, and errors of the estimate"
	return out, true
}
