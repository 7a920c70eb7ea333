package site

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// watching is where the things of ?watch= are. The same for everybody who asks
// for the same: who watches what is their browser's business.
func (s *Site) Watching(r *http.Request, v answer.View) (templates.Watching, error) {
	q := r.URL.Query()
	all := q["watch"]
	if len(all) > answer.MaxWatched {
		return templates.Watching{}, fault.New(fault.Invalid, "At most %d things can be watched at once.", answer.MaxWatched)
	}
	var m templates.Watching
	if !v.Table.Loaded {
		return m, nil
	}
	for i, item := range all {
		w, err := s.watched(v, item)
		if err != nil {
			return m, fault.Wrap(fault.Invalid, err, "watch is project:<id> or chunk:<namespace>:<reference>; %q is neither.", sanitize.Truncate(item, 80))
		}
		rest := url.Values{}
		for name, values := range q {
			if name != "watch" {
				rest[name] = values
			}
		}
		rest["watch"] = slices.Delete(slices.Clone(all), i, i+1)
		w.Drop = "?" + rest.Encode()
		m.Items = append(m.Items, w)
	}
	return m, nil
}

func (s *Site) watched(v answer.View, item string) (templates.Watched, error) {
	if text, ok := strings.CutPrefix(item, answer.WatchProject); ok {
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			return templates.Watched{}, answer.ErrNotWatchable
		}
		return s.watchedProject(v, item, id), nil
	}
	text, ok := strings.CutPrefix(item, answer.WatchChunk)
	i := strings.LastIndexByte(text, ':')
	if !ok || i < 1 {
		return templates.Watched{}, answer.ErrNotWatchable
	}
	return watchedChunk(v, item, topology.Namespace(text[:i]), text[i+1:]), nil
}

// watchedChunk follows the range that begins at a bound: a chunk that was
// split or merged is the one that has this bound now.
func watchedChunk(v answer.View, item string, ns topology.Namespace, ref string) templates.Watched {
	out := templates.Watched{Item: item, Kind: "chunk", NS: string(ns), Name: sanitize.Truncate(string(ns), 80)}
	c := v.Table.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		out.Gone = "its collection is not there or not sharded"
		return out
	}
	k, err := answer.ParseChunkRef(c, ref)
	if err == nil {
		err = answer.MayNameKeys(v, "hidden.chunk")
	}
	if err != nil {
		out.Gone = fault.Text(err)
		return out
	}
	i, ch := c.Chunks.Find(k)
	out.URL = answer.ChunkURL(ns, answer.ChunkRef(c, ch.Min))
	out.Key, out.Chunk = answer.ChunkKey(c.Key, ch.Min), answer.ChunkName(c, ch.Min)
	out.Name += " " + parts.Bound(c.Key, k).Short
	at, _ := answer.Positions(c)
	out.Place = strconv.FormatFloat((at(i)+at(i+1))/2, 'f', 6, 64)
	heldOn(&out, v, map[topology.Namespace][]string{ns: {ch.Shard}})
	return out
}

func (s *Site) watchedProject(v answer.View, item string, id bson.ObjectID) templates.Watched {
	out := templates.Watched{Item: item, Kind: "project", Name: id.Hex(), Key: id.Hex()}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		out.Gone = "not in the list of projects"
		return out
	}
	out.Name, out.URL = answer.NameOf(pr), "/projects/"+id.Hex()
	places := map[topology.Namespace][]string{}
	for _, c := range placement.SpreadOf(v.Table, s.Deps.Profile, pr).Collections {
		if !c.Exact {
			continue // spread over every shard by hash: no place to follow
		}
		for _, part := range c.Shards {
			places[c.NS] = append(places[c.NS], part.Shard)
		}
	}
	heldOn(&out, v, places)
	return out
}

// heldOn notes which shards hold the thing, all together and by collection.
func heldOn(w *templates.Watched, v answer.View, places map[topology.Namespace][]string) {
	r := parts.RefsOf(v.Table)
	seen := map[string]bool{}
	spaces := [][]string{} // [namespace, shard, …]
	for ns, shards := range places {
		spaces = append(spaces, append([]string{string(ns)}, shards...))
		for _, name := range shards {
			seen[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		w.Where = append(w.Where, r.Of(name))
	}
	slices.SortFunc(spaces, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if b, err := json.Marshal(spaces); err == nil {
		w.Spaces = string(b)
	}
}
