package rules

import (
	"maps"
	"slices"
)

// causes are the rules on writes from the cause to what follows from it.
var causes = []Rule{MonotonicKey, HotDocument, HotProject, HotChunk, HotShard}

// causeShare is which part of a problem's writes another one must make to be its cause, and causeOfShard which part of
// a shard's a project: with less, others heat the shard too, and the project is one of them.
const (
	causeShare   = 0.5
	causeOfShard = 0.6
)

// Incidents lists problems of writes that have one cause as one problem: it keeps the id, the rule and the sentence of
// the cause, has the greatest severity of all, and the others are its consequences. The plans against any of them are
// among its remedies.
func Incidents(items []Problem) []Problem {
	parent := slices.Repeat([]int{-1}, len(items))
	root := func(i int) int {
		for parent[i] >= 0 {
			i = parent[i]
		}
		return i
	}
	for i, p := range items {
		for _, rule := range causes {
			for j, q := range items {
				if parent[i] < 0 && q.Rule == rule && causesProblem(q, p) && root(j) != i {
					parent[i] = j
				}
			}
		}
	}
	followed := map[int]Problem{}
	for i, p := range items {
		if r := root(i); r != i {
			of, ok := followed[r]
			if !ok {
				of = items[r]
				of.Remedy.Plans = slices.Clone(of.Remedy.Plans)
			}
			followed[r] = of.with(p)
		}
	}
	var out []Problem
	for i, p := range items {
		switch of, ok := followed[i]; {
		case ok:
			out = append(out, of)
		case parent[i] < 0:
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, byRank)
	return out
}

// with is the problem with one that follows from it.
func (p Problem) with(x Problem) Problem {
	p.Consequences = append(p.Consequences, x)
	if x.Severity.Level() > p.Severity.Level() {
		p.Severity, p.Why = x.Severity, x.Why
	}
	p.Weight = max(p.Weight, x.Weight)
	for _, plan := range x.Remedy.Plans {
		if !slices.ContainsFunc(p.Remedy.Plans, func(o Plan) bool { return o.same(plan) }) {
			p.Remedy.Plans = append(p.Remedy.Plans, plan)
		}
	}
	return p
}

func (p Plan) same(o Plan) bool { return p.Kind == o.Kind && maps.Equal(p.Args, o.Args) }

// causesProblem tells whether one problem of writes is the direct cause of another.
func causesProblem(cause, p Problem) bool {
	if !p.Rule.OfWrites() || cause.Until.IsZero() != p.Until.IsZero() || cause.Count > 0 || p.Count > 0 {
		return false
	}
	most := cause.PerSecond >= causeShare*p.PerSecond
	sameProject := cause.Project != "" && cause.Project == p.Project
	sameShard := cause.Shard != "" && cause.Shard == p.Shard
	switch p.Rule {
	case HotShard:
		enough := most && (cause.Rule != HotProject || cause.PerSecond >= causeOfShard*p.PerSecond)
		return cause.Rule != HotShard && sameShard && enough
	case HotChunk:
		return cause.Rule == MonotonicKey && cause.NS == p.NS && sameShard || cause.Rule == HotProject && sameProject
	case HotProject:
		return cause.Rule == HotDocument && sameProject && most ||
			cause.Rule == HotShard && sameShard && p.PerSecond < causeOfShard*cause.PerSecond
	case HotDocument:
		return cause.Rule == HotProject && sameProject && p.PerSecond < causeShare*cause.PerSecond
	}
	return false
}

// All are the problems with their consequences, each by itself.
func (r Report) All() (out []Problem) {
	for _, p := range r.Items {
		out = append(out, p)
		out = append(out, p.Consequences...)
	}
	return out
}
