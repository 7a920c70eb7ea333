package answer

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
)

func ProjectCollectionOf(v View, c placement.CollectionSpread) api.ProjectCollection {
	out := api.ProjectCollection{
		NS: string(c.NS), Scope: string(c.Scope), What: c.What, Sharded: c.Sharded, Presence: presenceOf(c.Presence),
		Key: c.Key, Exact: c.Exact, Basis: c.Basis, ChunkCount: c.ChunkCount,
		Shards: []api.ProjectShardPart{}, Chunks: []api.Chunk{},
		Pin: api.Verdict(c.Pin), Split: api.Verdict(c.Split),
	}
	for _, part := range c.Shards {
		out.Shards = append(out.Shards, api.ProjectShardPart{
			ShardPart: api.ShardPart{Shard: part.Shard, Chunks: part.Chunks, Bytes: FigureOf(part.Bytes), Documents: FigureOf(part.Documents)},
			Share:     ShareOf(part.Share),
		})
	}
	t := v.Table
	coll := t.Collection(c.NS)
	var f *ChunkFigures
	if coll != nil {
		f = FiguresOf(v, coll)
	}
	for _, ch := range c.Chunks {
		if coll == nil {
			break
		}
		i, _ := coll.Chunks.Find(ch.Min)
		row := chunkOf(coll, ch)
		row.Zone, row.Straddles = t.ZoneOf(coll, i)
		f.sizeInto(&row, i)
		out.Chunks = append(out.Chunks, row)
	}
	return out
}

func presenceOf(p placement.Presence) string {
	switch p {
	case placement.PresenceYes:
		return "exists"
	case placement.PresenceNo:
		return "absent"
	}
	return "unknown"
}

// projectsQuery searches and pages the list; the zero value is its first page.
type ProjectsQuery struct {
	Text string
	Page int // 0 is the first
}

func ProjectsQueryOf(in url.Values) (ProjectsQuery, error) {
	var q ProjectsQuery
	var err error
	if q.Text, err = text(in, "q"); err != nil {
		return q, err
	}
	if q.Page, err = pageNumber(in); q.Page == 1 {
		q.Page = 0
	}
	return q, err
}

func (q ProjectsQuery) Url(page int) string {
	u := url.Values{}
	set(u, "q", q.Text)
	return address("/projects", u, page)
}

// projectColumns are the collections of the matched databases' layouts whose
// shard key begins with the project.
func ProjectColumns(v View, p *profile.Profile) []string {
	var out []string
	for _, db := range v.Dir.Databases() {
		for _, c := range p.Nearest(v.Table, db).Collections {
			if c.Scope == profile.ScopeProject && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// documentsHead is what the profile calls its documents.
func DocumentsHead(p *profile.Profile) string {
	if p == nil || p.Called.Many == "" {
		return "Yorkie documents"
	}
	return p.Called.Many
}

// nameOf is what a project is called; a row without a name is called by its id.
func NameOf(p placement.Project) string {
	if strings.TrimSpace(p.Name) == "" {
		return p.ID.Hex()
	}
	return p.Name
}

// joinWords lists things as a sentence does: a, b and c.
func JoinWords(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%s and %s", strings.Join(list[:len(list)-1], ", "), list[len(list)-1])
}
