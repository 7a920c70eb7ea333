package causes

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ChunkWhy says why chunk i of a collection is where it is, what the balancer will
// do with it, and which moves of it would fail. found are the duplicate ids that
// the background check knows of now.
func ChunkWhy(v answer.View, c *topology.Collection, i int, found []placement.SharedID) api.ChunkWhy {
	out := chunkWhy(v, planOf(v.Table, c), c, i)
	out.Moving = logbook.InFlightOf(v, logbook.MovingChunk(v, c, i))
	size := data.ChunkSizeOf(v, c, c.Chunks.At(i))
	out.Size, out.Dangers = &size, []api.Danger{}
	for _, d := range placement.Dangers(c, i, found) {
		out.Dangers = append(out.Dangers, api.Danger{Shard: d.Shard, IDs: d.IDs})
	}
	return out
}

func planOf(t *topology.Table, c *topology.Collection) *balance.Plan {
	return balance.PlanOf(balance.Situation{Table: t}, c)
}

func chunkWhy(v answer.View, p *balance.Plan, c *topology.Collection, i int) api.ChunkWhy {
	w := placement.WhyChunkOf(v.Table, c, i)
	return api.ChunkWhy{
		NS: string(c.NS), Chunk: whyChunkOf(c, w), Why: WhyOf(v.Table, c.NS, w, nil), Balance: balanceOf(p, i),
		Sentence: SentenceOf(v, c.NS, w), Freshness: answer.WhyFreshness(v),
	}
}

// balanceOf is what every rule of the balancer says of a chunk.
func balanceOf(p *balance.Plan, i int) api.WhyBalance {
	e := p.Explain(i)
	out := api.WhyBalance{Release: p.Release().String(), Decision: string(e.Decision), Due: string(e.Due), Rules: []api.WhyRule{},
		Text: api.Timeless(e.Summary())}
	for _, v := range e.Verdicts {
		out.Rules = append(out.Rules, api.WhyRule{
			Rule: string(v.Rule), Verdict: string(v.Outcome), Code: v.Code, Args: v.Args(), Text: api.Timeless(v.Message),
		})
	}
	if e.Move != nil {
		out.To = e.Move.To
	}
	return out
}

// ProjectWhy explains the collections of a project that exist: its own chunks
// where the key begins with the project, the rule alone elsewhere.
func ProjectWhy(v answer.View, spread placement.Spread) api.ProjectWhy {
	pr := spread.Project
	out := api.ProjectWhy{Project: pr.ID.Hex(), Name: pr.Name, Collections: []api.CollectionWhy{}, Freshness: answer.WhyFreshness(v)}
	for _, cs := range spread.Collections {
		if cs.Presence != placement.PresenceNo {
			out.Collections = append(out.Collections, collectionWhy(v, cs))
		}
	}
	return out
}

func collectionWhy(v answer.View, cs placement.CollectionSpread) api.CollectionWhy {
	out := api.CollectionWhy{
		NS: string(cs.NS), Basis: cs.Basis, Text: v.Profile.Words(cs.BasisText()), Of: cs.ChunkCount, Chunks: []api.ChunkWhy{},
	}
	switch {
	case cs.Basis == placement.BasisPrimary && len(cs.Shards) == 1:
		out.Text = fmt.Sprintf("Not sharded, so all of it is on %s, the primary shard of %s.", cs.Shards[0].Shard, cs.NS.Database())
	case cs.Basis == placement.BasisTracked:
		out.Text = fmt.Sprintf("Not sharded: all of it is on %s, which need not be the primary shard of %s.", cs.Shards[0].Shard,
			cs.NS.Database())
	case cs.Basis == placement.BasisByDocument:
		out.Text = v.Profile.Words("Spread by document, so no chunk is this project's own: locate a document to see why it is where it is.")
	case cs.Basis == placement.BasisOtherKey:
		out.Text = v.Profile.Words("The shard key begins with another field, so no chunk is this project's own.")
	}
	if c := v.Table.Collection(cs.NS); c != nil && cs.Basis == placement.BasisKeyPrefix {
		plan := planOf(v.Table, c)
		for _, ch := range cs.Chunks[:min(len(cs.Chunks), answer.ChunksListed)] {
			i, _ := c.Chunks.Find(ch.Min)
			out.Chunks = append(out.Chunks, chunkWhy(v, plan, c, i))
		}
	}
	return out
}
