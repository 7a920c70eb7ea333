package answer

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/placement"
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
		out = append(out, fmt.Sprintf("On %s: %s.", JoinWords(g.shards), JoinWords(g.names)))
	}
	if len(byDoc.names) > 0 {
		out = append(out, fmt.Sprintf("Document by document, on any of %s: %s.", JoinWords(byDoc.shards), JoinWords(byDoc.names)))
	}
	if len(primary.names) > 0 {
		out = append(out, fmt.Sprintf("Not sharded, on %s: %s.", JoinWords(primary.shards), JoinWords(primary.names)))
	}
	if len(out) == 0 {
		return "Where this project is, is not known: none of its collections can be read."
	}
	return strings.Join(out, " ")
}
