package placement

import (
	"slices"
	"time"

	"shardboard/internal/topology"
)

// In says where to search for a text that leads nowhere by itself. Such a search costs the cluster
// more than a few queries, so nobody gets it without asking.
type In string

const (
	InProjects    In = "projects"    // a document key, in all projects
	InCollections In = "collections" // an _id, in all sharded collections
)

// Bounds on what a wider search asks of the cluster. Its deadline is each query's maxTimeMS too.
const (
	WiderTime        = 4 * time.Second
	MaxKeyMatches    = 50   // documents that are listed
	projectsPerQuery = 1000 // an index seek for each
	maxCollections   = 100
	widerWorkers     = 4 // queries at a time
)

// WiderSearch is what a search would ask of the cluster at most.
type WiderSearch struct {
	In          In
	Queries     int
	Shards      int // that are asked
	Projects    int // that are searched
	Collections int
	Time        time.Duration
}

// widerSearches says what else could be searched for the text.
func (s *search) widerSearches() (out []WiderSearch) {
	if !s.q.Near && s.q.In == "" {
		return nil // a program would not read it
	}
	if slices.ContainsFunc(s.out.Input.Readings, func(r Reading) bool { return r.Form == FormReference }) {
		return nil // says where it is
	}
	dir := s.dirs.Directory()
	if n := len(dir.All()); n > 0 {
		w := WiderSearch{In: InProjects, Projects: n, Time: WiderTime}
		on, in := map[string]bool{}, map[string]int{}
		for _, p := range dir.All() {
			in[p.DB]++
		}
		for db, projects := range in {
			w.Queries += (projects + projectsPerQuery - 1) / projectsPerQuery
			s.owners(topology.Namespace(db+"."+s.profile.Keys.Collection), on)
		}
		w.Shards = len(on)
		out = append(out, w)
	}
	if list := s.shardedCollections(); len(list) > 0 {
		list = list[:min(len(list), maxCollections)]
		on := map[string]bool{}
		for _, ns := range list {
			s.owners(ns, on)
		}
		out = append(out, WiderSearch{In: InCollections, Queries: len(list), Collections: len(list), Shards: len(on), Time: WiderTime})
	}
	return out
}

// owners adds the shards that a query of all of a collection asks.
func (s *search) owners(ns topology.Namespace, on map[string]bool) {
	c := s.t.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		if primary := s.t.Primary(ns.Database()); primary != "" {
			on[primary] = true
		}
		return
	}
	for shard, n := range c.Chunks.CountByShard() {
		if n > 0 {
			on[shard] = true
		}
	}
}

// shardedCollections lists those that an _id is searched in, without the server's own.
func (s *search) shardedCollections() (out []topology.Namespace) {
	for _, c := range s.t.Collections {
		if !c.Temporary && !c.Unsplittable && !topology.IsInternal(c.NS) {
			out = append(out, c.NS)
		}
	}
	return out
}
