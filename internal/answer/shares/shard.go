// Package shares answers what each shard holds, and why it holds more than others.
package shares

import (
	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/spread"
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
func Shard(v answer.View, p *profile.Profile, name string, internal bool) (api.ShardDetail, error) {
	t := v.Table
	switch {
	case t.Shard(name) != nil:
	case !t.Loaded:
		return api.ShardDetail{}, t.NotLoaded()
	default:
		names := answer.Map(t.Shards, func(s topology.Shard) string { return s.Name })
		return api.ShardDetail{}, fault.New(fault.NotFound, "There is no shard %q (searched %d: %s).",
			sanitize.Truncate(name, 100), len(names), format.JoinWords(names))
	}
	contents, projects := contentsOf(v, p, name)
	out := api.ShardDetail{
		Orphans:  data.OrphansOf(t.OrphansAt(name, v.Now)),
		Contents: []api.ShardCollection{}, Projects: projects,
		ByDocument:    answer.Map(contents.ByDocument, func(c placement.CollectionOn) api.ShardCollection { return shardCollection(t, c) }),
		Moving:        logbook.InFlightOf(v, t.MovingOn(name)),
		Drain:         answer.DrainOf(v, name),
		Deletions:     answer.DeletionsHeld(v, func(h topology.HeldDeletion) (topology.HeldDeletion, bool) { return h, h.Shard == name }),
		Freshness:     answer.FreshnessOf(v, topology.PartShards, topology.PartRouting),
		Outage:        Outage(v, contents),
		All:           answer.Shards(v),
		ProjectsState: answer.ProjectsState(v),
		ProjectCounts: answer.CountsOf(p),
	}
	for _, s := range out.All {
		if s.Name == name {
			out.Shard = s
		}
	}
	spread.FillActivity(v, &out)
	if s := answer.PartState(v, topology.PartShards); s.Code != "stale" {
		out.State = s
	}
	for _, db := range t.Databases {
		if db.Primary == name {
			out.PrimaryOf = append(out.PrimaryOf, db.Name)
		}
	}
	out.Contents, out.Hidden = collectionsOn(v, contents, internal)
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
func contentsOf(v answer.View, p *profile.Profile, shard string) (placement.Contents, []api.ShardProject) {
	type contents struct {
		placement.Contents
		projects []api.ShardProject
	}
	all := answer.OncePerTable(v, contentsKey{shard, v.Dir, p}, func() contents {
		c := placement.ShardContents(v.Table, v.Dir, p, shard)
		return contents{c, answer.Map(c.Projects, shardProject)}
	})
	return all.Contents, all.projects
}

// collectionsOn are the collections of a shard, and how many of the server's own are left out. Read only.
func collectionsOn(v answer.View, on placement.Contents, internal bool) ([]api.ShardCollection, int) {
	all := answer.OncePerTable(v, onShardKey{on.Shard, internal}, func() []api.ShardCollection {
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
	bytes, documents, _ := answer.SizeOf(t, c.NS)
	out := api.ShardCollection{
		NS: string(c.NS), Sharded: c.Sharded, Chunks: c.Chunks, Of: c.Of, Key: c.Key, Share: answer.ShareOf(c.Share),
		Bytes: answer.FigureOf(c.Size.Bytes), ByteShare: shareHere(c.Size.Bytes, bytes),
		Documents: answer.FigureOf(c.Size.Documents), Counts: data.CountsOf(t, c.NS), RowShare: shareHere(c.Size.Documents, documents),
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
	return answer.ShareOf(answer.Share(here.Value, all.Value))
}

func shardProject(p placement.ProjectOn) api.ShardProject {
	out := api.ShardProject{
		ID: p.Project.ID.Hex(), Name: p.Project.Name, Title: answer.NameOf(p.Project), DB: p.Project.DB,
		Documents: answer.FigureOf(p.Project.Documents), Share: answer.ShareOf(p.Share), RowShare: rowShare(p.Rows), Whole: p.Whole,
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
	return api.RowShare{Low: answer.ShareOf(s.Low), High: answer.ShareOf(s.High), Exact: s.Exact, Method: s.Method, At: api.Time(s.At)}
}

// Outage says who is affected if a shard goes down: projects whose own rows are
// on it, and collections that all projects share.
func Outage(v answer.View, c placement.Contents) message.Message {
	switch h := v.Dir.Health(); {
	case v.Dir.Loaded():
	case h.Denied:
		return v.Own(message.New("outage.denied",
			"The cluster user may not read the list of projects, so which projects are affected is not known."))
	case h.Err != nil:
		return v.Own(message.New("outage.failed",
			"The list of projects could not be read, so which projects are affected is not known."))
	default:
		return v.Own(message.New("outage.unknown",
			"The list of projects is not read yet, so which projects are affected is not known."))
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
	pattern := OutagePattern(down, len(c.Projects), whole)
	if len(c.Unknown) > 0 {
		pattern += " That is without {unknown}, whose chunks are not known."
		facts = append(facts, message.Text("unknown", format.JoinWords(c.Unknown)))
	}
	if len(c.ByDocument) == 0 {
		return v.Own(message.New("outage", pattern, facts...))
	}
	names := make([]string, len(c.ByDocument))
	var most float64
	for i, b := range c.ByDocument {
		names[i] = b.NS.Collection()
		most = max(most, b.Share)
	}
	pattern += " Every project can also lose rows in {collections}, which are not placed by project " +
		"(up to {most} of their chunks are here)."
	return v.Own(message.New("outage.shared", pattern,
		append(facts, message.Text("collections", format.JoinWords(names)), message.Share("most", most))...))
}

// OutagePattern is the sentence for a number of projects that have rows of their own on a shard, some of them all.
func OutagePattern(down string, projects, whole int) string {
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
