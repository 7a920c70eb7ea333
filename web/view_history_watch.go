package web

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// maxWatched is how many things can be watched at once.
const maxWatched = 20

// Watched things as an address has them: chunk:<namespace>:<reference> and
// project:<id>.
const (
	watchChunk   = "chunk:"
	watchProject = "project:"
)

var errNotWatchable = errors.New("not a chunk or a project")

func chunkItem(c *topology.Collection, ref string) string {
	if ref == "" {
		return ""
	}
	return watchChunk + string(c.NS) + ":" + ref
}

// watching is where the things of ?watch= are. The same for everybody who asks
// for the same: who watches what is their browser's business.
func (s *Site) watching(r *http.Request, v View) (templates.Watching, error) {
	q := r.URL.Query()
	all := q["watch"]
	if len(all) > maxWatched {
		return templates.Watching{}, fault.New(fault.Invalid, "At most %d things can be watched at once.", maxWatched)
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

func (s *Site) watched(v View, item string) (templates.Watched, error) {
	if text, ok := strings.CutPrefix(item, watchProject); ok {
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			return templates.Watched{}, errNotWatchable
		}
		return s.watchedProject(v, item, id), nil
	}
	text, ok := strings.CutPrefix(item, watchChunk)
	i := strings.LastIndexByte(text, ':')
	if !ok || i < 1 {
		return templates.Watched{}, errNotWatchable
	}
	return watchedChunk(v, item, topology.Namespace(text[:i]), text[i+1:]), nil
}

// watchedChunk follows the range that begins at a bound: a chunk that was
// split or merged is the one that has this bound now.
func watchedChunk(v View, item string, ns topology.Namespace, ref string) templates.Watched {
	out := templates.Watched{Item: item, Kind: words.T("watch.chunk"), NS: string(ns), Name: sanitize.Truncate(string(ns), 80)}
	c := v.Table.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		out.Gone = words.T("watch.nocollection")
		return out
	}
	k, err := parseChunkRef(c, ref)
	if err == nil {
		err = mayNameKeys(v, "hidden.chunk")
	}
	if err != nil {
		out.Gone = fault.Text(err)
		return out
	}
	i, ch := c.Chunks.Find(k)
	out.URL = chunkURL(ns, chunkRef(c, ch.Min))
	out.Key, out.Chunk = chunkKey(c.Key, ch.Min), chunkName(c, ch.Min)
	out.Name += " " + bound(c.Key, k).Short
	at, _ := positions(c)
	out.Place = strconv.FormatFloat((at(i)+at(i+1))/2, 'f', 6, 64)
	heldOn(&out, v, map[topology.Namespace][]string{ns: {ch.Shard}})
	return out
}

func (s *Site) watchedProject(v View, item string, id bson.ObjectID) templates.Watched {
	out := templates.Watched{Item: item, Kind: words.T("watch.project"), Name: id.Hex(), Key: id.Hex()}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		out.Gone = words.T("watch.noproject")
		return out
	}
	out.Name, out.URL = nameOf(pr), "/projects/"+id.Hex()
	places := map[topology.Namespace][]string{}
	for _, c := range placement.SpreadOf(v.Table, s.deps.Profile, pr).Collections {
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
func heldOn(w *templates.Watched, v View, places map[topology.Namespace][]string) {
	r := refsOf(v.Table)
	seen := map[string]bool{}
	spaces := [][]string{} // [namespace, shard, …]
	for ns, shards := range places {
		spaces = append(spaces, append([]string{string(ns)}, shards...))
		for _, name := range shards {
			seen[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		w.Where = append(w.Where, r.of(name))
	}
	slices.SortFunc(spaces, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if b, err := json.Marshal(spaces); err == nil {
		w.Spaces = string(b)
	}
}

// chunkName is a short name for a chunk of any collection within a page, for
// a script to find what shows it.
func chunkName(c *topology.Collection, min shardkey.Key) string {
	if hiding := c.Key.Hiding(); hiding != nil {
		return hiding.Name(string(c.NS) + "\x00" + min.Encoded())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(c.NS) + "\x00" + min.Encoded())) // a hash does not fail
	return strconv.FormatUint(h.Sum64()>>16, 36)
}
