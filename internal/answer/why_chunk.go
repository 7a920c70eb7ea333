package answer

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ChunkWhy says why chunk i of a collection is where it is, what the balancer will
// do with it, and which moves of it would fail. found are the duplicate ids that
// the background check knows of now.
func ChunkWhy(v View, c *topology.Collection, i int, found []placement.SharedID) api.ChunkWhy {
	out := chunkWhy(v.Table, planOf(v.Table, c), c, i)
	out.Freshness = whyFreshness(v)
	out.Moving = InFlightOf(v, MovingChunk(v, c, i))
	size := ChunkSizeOf(v, c, c.Chunks.At(i))
	out.Size, out.Dangers = &size, []api.Danger{}
	for _, d := range placement.Dangers(c, i, found) {
		ids := make([]string, len(d.IDs))
		for k, id := range d.IDs {
			ids[k] = id.Hex()
		}
		out.Dangers = append(out.Dangers, api.Danger{Shard: d.Shard, IDs: ids})
	}
	return out
}

// whyFreshness is the age of what the rules look at.
func whyFreshness(v View) api.Freshness {
	return freshnessOf(v, topology.PartRouting, topology.PartShards)
}

func planOf(t *topology.Table, c *topology.Collection) *balance.Plan {
	return balance.PlanOf(balance.Situation{Table: t}, c)
}

func chunkWhy(t *topology.Table, p *balance.Plan, c *topology.Collection, i int) api.ChunkWhy {
	w := placement.WhyChunkOf(t, c, i)
	return api.ChunkWhy{
		NS: string(c.NS), Chunk: whyChunkOf(c, w), Why: whyOf(t, c.NS, w, nil), Balance: balanceOf(p, i),
		Sentence: sentenceOf(c.NS, w),
	}
}

// balanceOf is what every rule of the balancer says of a chunk.
func balanceOf(p *balance.Plan, i int) api.WhyBalance {
	e := p.Explain(i)
	out := api.WhyBalance{Release: p.Release().String(), Decision: string(e.Decision), Due: string(e.Due), Rules: []api.WhyRule{},
		Text: e.Summary().String()}
	for _, v := range e.Verdicts {
		out.Rules = append(out.Rules, api.WhyRule{
			Rule: string(v.Rule), Verdict: string(v.Outcome), Code: v.Code, Args: v.Args(), Text: v.String(), Message: v.Message,
		})
	}
	if e.Move != nil {
		out.To = e.Move.To
	}
	return out
}

// ProjectWhy explains the collections of a project that exist: its own chunks
// where the key begins with the project, the rule alone elsewhere.
func ProjectWhy(v View, spread placement.Spread) api.ProjectWhy {
	pr := spread.Project
	out := api.ProjectWhy{Project: pr.ID.Hex(), Name: pr.Name, Collections: []api.CollectionWhy{}, Freshness: whyFreshness(v)}
	for _, cs := range spread.Collections {
		if cs.Presence != placement.PresenceNo {
			out.Collections = append(out.Collections, collectionWhy(v.Table, cs))
		}
	}
	return out
}

func collectionWhy(t *topology.Table, cs placement.CollectionSpread) api.CollectionWhy {
	out := api.CollectionWhy{
		NS: string(cs.NS), Basis: cs.Basis, Text: placement.BasisText(cs.Basis), Of: cs.ChunkCount, Chunks: []api.ChunkWhy{},
	}
	switch {
	case cs.Basis == placement.BasisPrimary && len(cs.Shards) == 1:
		out.Text = fmt.Sprintf("Not sharded, so all of it is on %s, the primary shard of %s.", cs.Shards[0].Shard, cs.NS.Database())
	case cs.Basis == placement.BasisByDocument:
		out.Text = "Spread by document, so no chunk is this project's own: locate a document to see why it is where it is."
	}
	if c := t.Collection(cs.NS); c != nil && cs.Basis == placement.BasisKeyPrefix {
		plan := planOf(t, c)
		for _, ch := range cs.Chunks[:min(len(cs.Chunks), ChunksListed)] {
			i, _ := c.Chunks.Find(ch.Min)
			out.Chunks = append(out.Chunks, chunkWhy(t, plan, c, i))
		}
	}
	return out
}
