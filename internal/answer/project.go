package answer

import (
	"slices"
	"strings"

	"shardboard/internal/placement"
	"shardboard/web/words"
)

// chunksListed is how many chunks of one collection a project's page lists.
const ChunksListed = 20

// projectAnswer says in a sentence or three where the tenant is: collections
// on the same shards together, exact ones first.
func ProjectAnswer(s placement.Spread) string {
	type group struct {
		names  []string
		shards []string
	}
	var exact []group
	var byDoc, primary group
	put := func(g *group, c placement.CollectionSpread, shards []string) {
		g.names = append(g.names, c.NS.Collection())
		for _, sh := range shards {
			if !slices.Contains(g.shards, sh) {
				g.shards = append(g.shards, sh)
			}
		}
		slices.Sort(g.shards)
	}
	for _, c := range s.Collections {
		shards := make([]string, len(c.Shards))
		for i, part := range c.Shards {
			shards[i] = part.Shard
		}
		switch {
		case len(shards) == 0:
		case c.Basis == placement.BasisByDocument:
			put(&byDoc, c, shards)
		case c.Basis == placement.BasisPrimary:
			put(&primary, c, shards)
		default:
			i := slices.IndexFunc(exact, func(g group) bool { return slices.Equal(g.shards, shards) })
			if i < 0 {
				exact, i = append(exact, group{}), len(exact)
			}
			put(&exact[i], c, shards)
		}
	}
	var out []string
	for _, g := range exact {
		out = append(out, words.T("project.answer.exact", "names", JoinWords(g.names), "shards", JoinWords(g.shards)))
	}
	if len(byDoc.names) > 0 {
		out = append(out, words.T("project.answer.bydoc", "names", JoinWords(byDoc.names), "shards", JoinWords(byDoc.shards)))
	}
	if len(primary.names) > 0 {
		out = append(out, words.T("project.answer.primary", "names", JoinWords(primary.names), "shards", JoinWords(primary.shards)))
	}
	if len(out) == 0 {
		return words.T("project.answer.unknown")
	}
	return strings.Join(out, " ")
}
