package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Shard is what is on a shard and who is affected if it goes down. internal
// lists the server's own collections too.
func Shard(v View, p *profile.Profile, name string, internal bool) (api.ShardDetail, error) {
	t := v.Table
	if t.Shard(name) == nil {
		names := each(t.Shards, func(s topology.Shard) string { return s.Name })
		return api.ShardDetail{}, fault.New(fault.NotFound, "There is no shard %q (searched %d: %s).",
			sanitize.Truncate(name, 100), len(names), format.JoinWords(names))
	}
	contents, projects := v.contentsOf(p, name)
	out := api.ShardDetail{
		Orphans:  orphansOf(t.OrphansAt(name, v.Now)),
		Contents: []api.ShardCollection{}, Projects: projects,
		ByDocument: each(contents.ByDocument, func(c placement.CollectionOn) api.ShardCollection { return shardCollection(t, c) }),
		Moving:     InFlightOf(v, t.MovingOn(name)),
		Drain:      DrainOf(v, name),
		Deletions:  deletionsHeld(v, func(h topology.HeldDeletion) (topology.HeldDeletion, bool) { return h, h.Shard == name }),
		Freshness:  freshnessOf(v, topology.PartShards, topology.PartRouting),
		Outage:     outage(v, contents), All: Shards(v), ProjectsState: ProjectsState(v), DocumentsName: DocumentNames(p).Many,
	}
	for _, s := range out.All {
		if s.Name == name {
			out.Shard = s
		}
	}
	fillActivity(v, &out)
	if s := PartState(v, topology.PartShards); s.Code != "stale" {
		out.State = s
	}
	for _, db := range t.Databases {
		if db.Primary == name {
			out.PrimaryOf = append(out.PrimaryOf, db.Name)
		}
	}
	out.Contents, out.Hidden = v.collectionsOn(contents, internal)
	return out, nil
}

// contentsKey and onShardKey are the keys of what is kept of a shard.
type (
	contentsKey struct {
		shard   string
		dir     *placement.Directory
		profile *profile.Profile
	}
	onShardKey struct {
		shard    string
		internal bool
	}
)

// contentsOf is what is on a shard. Read only.
func (v View) contentsOf(p *profile.Profile, shard string) (placement.Contents, []api.ShardProject) {
	type contents struct {
		placement.Contents
		projects []api.ShardProject
	}
	all := kept(v, contentsKey{shard, v.Dir, p}, func() contents {
		c := placement.ShardContents(v.Table, v.Dir, p, shard)
		return contents{c, each(c.Projects, shardProject)}
	})
	return all.Contents, all.projects
}

// collectionsOn are the collections of a shard, and how many of the server's own are left out. Read only.
func (v View) collectionsOn(on placement.Contents, internal bool) ([]api.ShardCollection, int) {
	all := kept(v, onShardKey{on.Shard, internal}, func() []api.ShardCollection {
		out := []api.ShardCollection{}
		for _, c := range on.Collections {
			if internal || !topology.IsInternal(c.NS) { // left out as in sums
				out = append(out, shardCollection(v.Table, c))
			}
		}
		return out
	})
	return all, len(on.Collections) - len(all)
}

func shardCollection(t *topology.Table, c placement.CollectionOn) api.ShardCollection {
	bytes, documents, _ := sizeOf(t, c.NS)
	out := api.ShardCollection{
		NS: string(c.NS), Sharded: c.Sharded, Chunks: c.Chunks, Of: c.Of, Key: c.Key, Share: shareOf(c.Share),
		Bytes: figureOf(c.Size.Bytes), ByteShare: shareHere(c.Size.Bytes, bytes),
		Documents: figureOf(c.Size.Documents), Counts: countsOf(t, c.NS), RowShare: shareHere(c.Size.Documents, documents),
	}
	if !c.Sharded {
		out.Key = "not sharded"
	}
	return out
}

// shareHere is the part of a collection's figure that is on a shard.
func shareHere(here, all topology.Figure) *float64 {
	if !here.Known || !all.Known || all.Value == 0 {
		return nil
	}
	return shareOf(Share(here.Value, all.Value))
}

func shardProject(p placement.ProjectOn) api.ShardProject {
	out := api.ShardProject{
		ID: p.Project.ID.Hex(), Name: p.Project.Name, Title: NameOf(p.Project), DB: p.Project.DB,
		Documents: figureOf(p.Project.Documents), Share: shareOf(p.Share), RowShare: rowShare(p.Rows), Whole: p.Whole,
		Collections: []api.ShardProjectPart{},
	}
	for _, c := range p.Collections {
		out.Collections = append(out.Collections, api.ShardProjectPart{NS: string(c.NS), Chunks: c.Chunks, Of: c.Of})
	}
	return out
}

func rowShare(s placement.RowShare) api.RowShare {
	if !s.Known {
		return api.RowShare{Reason: s.Reason}
	}
	return api.RowShare{Low: shareOf(s.Low), High: shareOf(s.High), Exact: s.Exact, Method: s.Method, At: api.Time(s.At)}
}

// outage says who is affected if a shard goes down: projects whose own rows are
// on it, and collections that all projects share.
func outage(v View, c placement.Contents) message.Message {
	if !v.Dir.Loaded() {
		return message.New("outage.unknown",
			"The list of projects is not read yet, so which projects are affected is not known.")
	}
	whole := 0
	for _, p := range c.Projects {
		if p.Whole {
			whole++
		}
	}
	facts := []message.Fact{
		message.Shard("shard", c.Shard), message.Count("projects", len(c.Projects)), message.Count("all", len(v.Dir.All())),
		message.Count("whole", whole),
	}
	down := "If {shard} goes down: "
	if v.Table.Answering.Shards[c.Shard].State == topology.Silent {
		down = "While {shard} does not answer: "
	}
	pattern := outagePattern(down, len(c.Projects), whole)
	if len(c.ByDocument) == 0 {
		return message.New("outage", pattern, facts...)
	}
	names := make([]string, len(c.ByDocument))
	var most float64
	for i, b := range c.ByDocument {
		names[i] = b.NS.Collection()
		most = max(most, b.Share)
	}
	pattern += " Every project can also lose rows in {collections}, which are spread by document " +
		"(up to {most} of their chunks are here)."
	return message.New("outage.shared", pattern,
		append(facts, message.Text("collections", format.JoinWords(names)), message.Share("most", most))...)
}

// outagePattern is the sentence for a number of projects that have rows of their own on a shard, some of them all.
func outagePattern(down string, projects, whole int) string {
	switch {
	case projects == 0:
		return down + "no project loses rows of its own."
	case whole == projects:
		return down + message.Plural(projects, "1 of {all} projects affected, completely.",
			"{projects} of {all} projects affected, all completely.")
	}
	pattern := down + message.Plural(projects, "1 of {all} projects affected, ", "{projects} of {all} projects affected, ")
	if whole == 0 {
		return pattern + message.Plural(projects, "in part.", "each in part.")
	}
	return pattern + "{whole} completely."
}
