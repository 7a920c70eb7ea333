package changing

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// MaxWatched is how many things can be watched at once.
const MaxWatched = 20

// Watched things as an address has them: chunk:<namespace>:<reference> and
// project:<id>.
const (
	watchChunk   = "chunk:"
	WatchProject = "project:"
)

var errNotWatchable = errors.New("not a chunk or a project")

// ChunkItem is the chunk with a lower bound as it is watched; "" where bounds are hidden.
func ChunkItem(c *topology.Collection, min shardkey.Key) string {
	ref := answer.PlaceRef(c, min)
	if ref == "" {
		return ""
	}
	return watchChunk + string(c.NS) + ":" + ref
}

// Watched is where a thing is that an address names.
func Watched(v answer.View, prof *profile.Profile, item string) (api.Watched, error) {
	if text, ok := strings.CutPrefix(item, WatchProject); ok {
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			return api.Watched{}, errNotWatchable
		}
		return watchedProject(v, prof, item, id), nil
	}
	text, ok := strings.CutPrefix(item, watchChunk)
	i := strings.LastIndexByte(text, ':')
	if !ok || i < 1 {
		return api.Watched{}, errNotWatchable
	}
	return watchedChunk(v, item, topology.Namespace(text[:i]), text[i+1:]), nil
}

// watchedChunk follows the range that begins at a bound: a chunk that was
// split or merged is the one that has this bound now.
func watchedChunk(v answer.View, item string, ns topology.Namespace, ref string) api.Watched {
	out := api.Watched{Item: item, Kind: "chunk", NS: string(ns), Name: sanitize.Truncate(string(ns), 80)}
	c := v.Table.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		out.Gone = "its collection does not exist or is not sharded"
		return out
	}
	_, k, err := c.ByRef(ref)
	if err == nil {
		err = answer.MayNameChunks(v)
	}
	if err == nil && k.IsZero() {
		err = answer.ChunkGone(c)
	}
	if err != nil {
		out.Gone = fault.Text(err)
		return out
	}
	i, ch := c.Chunks.Find(k)
	out.URL = answer.ChunkURL(ns, answer.ChunkRef(c, ch.Min))
	out.Key, out.Chunk = answer.ChunkKey(c.Key, ch.Min), answer.ChunkName(c, ch.Min)
	out.Bound = answer.BoundText(c.Key, k)
	out.Of, _ = v.KeyProjects(c).Of(k, shardkey.Key{})
	at, _ := writes.Positions(c)
	out.Place = strconv.FormatFloat((at(i)+at(i+1))/2, 'f', 6, 64)
	out.Holders = []api.WatchedHolders{{NS: string(ns), Shards: []string{ch.Shard}}}
	return out
}

func watchedProject(v answer.View, prof *profile.Profile, item string, id bson.ObjectID) api.Watched {
	out := api.Watched{Item: item, Kind: "project", Name: id.Hex(), Key: id.Hex()}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		out.Gone = v.Profile.Words("not in the list of projects")
		return out
	}
	out.Name, out.URL = answer.NameOf(pr), "/projects/"+id.Hex()
	for _, c := range placement.SpreadOf(v.Table, prof, pr).Collections {
		if !c.Exact || len(c.Shards) == 0 {
			continue // spread over every shard by hash: no place to follow
		}
		out.Holders = append(out.Holders, api.WatchedHolders{NS: string(c.NS), Shards: answer.ShardsOf(c)})
	}
	slices.SortFunc(out.Holders, func(a, b api.WatchedHolders) int { return natural.Compare(a.NS, b.NS) })
	return out
}
