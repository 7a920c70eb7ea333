// Package spread answers on which shards the data of projects and collections is: the matrix, and the page of a
// project.
package spread

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Project says where a project is and what can be done about it, collection by
// collection.
func Project(v answer.View, p *profile.Profile, s placement.Spread) api.ProjectDetail {
	zone := answer.PinZone(s.Project.ID)
	figures := newProjectFigures(v)
	ref := refOf(s.Project)
	figures.writes.only = &ref
	out := api.ProjectDetail{Project: figures.fill(s), Window: v.WritesWindow().String(), WritesText: figures.writesText(ref),
		Moving: logbook.InFlightOf(v, logbook.MovingOfProject(v, s)),
		Answer: projectAnswer(v, s), Layout: s.Layout, ProjectCounts: answer.CountsOf(p), Verdicts: projectVerdicts(v, s)}
	if shards, pinned := answer.ZoneExists(v.Table, zone); pinned {
		out.PinTerms, out.PinnedTo = answer.PinTermsOf(v, zone), shards
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(v)
	out.Collections = answer.Map(s.Collections, func(c placement.CollectionSpread) api.ProjectCollection { return projectCollection(v, c) })
	answer.FillHoldings(v, s.Project, out.Collections)
	return out
}

func projectCollection(v answer.View, c placement.CollectionSpread) api.ProjectCollection {
	out := api.ProjectCollection{
		NS: string(c.NS), Scope: string(c.Scope), What: c.What, Sharded: c.Sharded, Presence: presenceOf(c.Presence),
		Key: c.Key, Exact: c.Exact, Basis: c.Basis, ChunkCount: c.ChunkCount,
		Shards: []api.ProjectShardPart{}, Chunks: []api.Chunk{},
		Pin: verdictOf(v, c.Pin), Split: verdictOf(v, c.Split),
		WhatText: v.Profile.Words(profile.WhatText(c.What)), BasisText: v.Profile.Words(c.BasisText()),
	}
	for _, part := range c.Shards {
		out.Shards = append(out.Shards, api.ProjectShardPart{
			ShardPart: api.ShardPart{Shard: part.Shard, Chunks: part.Chunks, Bytes: answer.FigureOf(part.Bytes),
				Documents: answer.FigureOf(part.Documents)},
			Share: answer.ShareOf(part.Share),
		})
	}
	coll := v.Table.Collection(c.NS)
	if coll == nil {
		return out
	}
	f := data.FiguresOf(v, coll)
	names := v.KeyProjects(coll)
	for _, ch := range c.Chunks {
		row := data.ChunkOf(coll, ch, names)
		i, _ := coll.Chunks.Find(ch.Min)
		row.Number, row.Name, row.From, row.To = i+1, answer.ChunkKey(coll.Key, ch.Min), answer.BoundText(coll.Key, ch.Min),
			answer.BoundText(coll.Key, ch.Max)
		row.Zone, row.Straddles = v.Table.ZoneOf(coll, i)
		f.SizeInto(&row, i)
		out.Chunks = append(out.Chunks, row)
	}
	return out
}

func verdictOf(v answer.View, x placement.Verdict) api.Verdict {
	return api.Verdict{Can: x.Can, Code: x.Why.Code, Args: x.Why.Args(), Why: v.Own(x.Why).String()}
}

// projectVerdicts says once what holds for several collections.
func projectVerdicts(v answer.View, s placement.Spread) []api.ProjectVerdict {
	var out []api.ProjectVerdict
	for _, c := range s.Collections {
		if c.Presence == placement.PresenceNo {
			continue
		}
		pin, split := verdictOf(v, c.Pin), verdictOf(v, c.Split)
		i := slices.IndexFunc(out, func(x api.ProjectVerdict) bool { return x.Pin.Why == pin.Why && x.Split.Why == split.Why })
		if i < 0 {
			i, out = len(out), append(out, api.ProjectVerdict{Pin: pin, Split: split})
		}
		out[i].Collections = append(out[i].Collections, c.NS.Collection())
	}
	return out
}

// ShardWords names shards, or counts them where their names would fill the screen; the table has them all.
func ShardWords(names []string) string {
	const named = 8
	if len(names) > named {
		return fmt.Sprintf("%d shards", len(names))
	}
	return format.JoinWords(names)
}

// projectAnswer says in a sentence or three where the project is: collections on
// the same shards together, exact ones first.
func projectAnswer(v answer.View, s placement.Spread) string {
	type group struct{ names, shards []string }
	var exact, unsharded []group
	var byDoc, otherKey group
	var unknown []string
	add := func(g *group, c placement.CollectionSpread) {
		g.names = append(g.names, c.NS.Collection())
		g.shards = slices.Compact(natural.Sorted(slices.Values(append(g.shards, answer.ShardsOf(c)...))))
	}
	addTo := func(groups *[]group, c placement.CollectionSpread) { // to the one of the same shards
		i := slices.IndexFunc(*groups, func(g group) bool { return slices.Equal(g.shards, answer.ShardsOf(c)) })
		if i < 0 {
			i, *groups = len(*groups), append(*groups, group{})
		}
		add(&(*groups)[i], c)
	}
	for _, c := range s.Collections {
		switch {
		case c.Sharded && c.Basis == placement.BasisUnknown:
			unknown = append(unknown, c.NS.Collection())
		case len(c.Shards) == 0:
		case c.Basis == placement.BasisByDocument:
			add(&byDoc, c)
		case c.Basis == placement.BasisOtherKey:
			add(&otherKey, c)
		case c.Basis == placement.BasisPrimary, c.Basis == placement.BasisTracked:
			addTo(&unsharded, c)
		default:
			addTo(&exact, c)
		}
	}
	var out []string
	for _, g := range exact {
		out = append(out, fmt.Sprintf("On %s: %s.", ShardWords(g.shards), format.JoinWords(g.names)))
	}
	if len(byDoc.names) > 0 {
		out = append(out, fmt.Sprintf("Spread by document over %s: %s.", ShardWords(byDoc.shards), format.JoinWords(byDoc.names)))
	}
	if len(otherKey.names) > 0 {
		out = append(out, fmt.Sprintf("Spread by another key over %s: %s.", ShardWords(otherKey.shards), format.JoinWords(otherKey.names)))
	}
	for _, g := range unsharded {
		out = append(out, fmt.Sprintf("Not sharded, on %s: %s.", format.JoinWords(g.shards), format.JoinWords(g.names)))
	}
	if len(unknown) > 0 {
		out = append(out, fmt.Sprintf("Not known, because the chunks are not: %s.", format.JoinWords(unknown)))
	}
	if len(out) == 0 {
		return v.Profile.Words("It is not known where this project is: none of its collections can be read.")
	}
	return strings.Join(out, " ")
}

// MovesOfProject tells which migrations were of chunks that have rows of the
// project, of the collections whose shard key begins with the project.
func MovesOfProject(v answer.View, s placement.Spread) func(history.Migration) bool {
	in := map[topology.Namespace]func(history.Migration) bool{}
	for _, c := range s.Collections {
		t := v.Table.Collection(c.NS)
		if t == nil || c.Basis != placement.BasisKeyPrefix {
			continue
		}
		if r, err := t.Key.PrefixRange(s.Project.IDValue()); err == nil {
			in[c.NS] = logbook.Touches(t, r)
		}
	}
	return func(m history.Migration) bool { return in[m.NS] != nil && in[m.NS](m) }
}
