package shards

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

// shardPageOrCSV serves a shard's page. Names that contain dots do not match
// the route of the CSV form, so it is looked for here once more; a shard that
// really is called "….csv" wins.
func ShardPageOrCSV(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if base, ok := strings.CutSuffix(name, ".csv"); ok && v.Table.Shard(name) == nil && v.Table.Shard(base) != nil {
		return writeShardCSV(s, w, r, base)
	}
	return pageShard(s, w, r)
}

// shardCSV answers "it is sick: who is hit?" as a file for a ticket.
func ShardCSV(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	return writeShardCSV(s, w, r, name)
}

func writeShardCSV(s *site.Site, w http.ResponseWriter, r *http.Request, name string) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	if v.Table.Shard(name) == nil {
		return fault.New(fault.NotFound, "No shard is named %q (searched the %d shards of this cluster).", sanitize.Truncate(name, 100), len(v.Table.Shards))
	}
	contents := placement.ShardContents(v.Table, v.Dir, s.Deps.Profile, name)
	out := site.NewSheet(w, "kind", "shard", "ns", "project_id", "project_name", "db", "chunks", "chunks_of", "share", "bytes", "documents", "row_share_low", "row_share_high")
	w.Header().Set("Content-Disposition", `attachment; filename="`+answer.FileName(name)+`.csv"`)
	for _, c := range contents.Collections {
		rows := answer.ShareText(answer.CollectionOnOf(v.Table, c).RowShare)
		out.Row("collection", name, string(c.NS), "", "", c.NS.Database(), strconv.Itoa(c.Chunks), strconv.Itoa(c.Of),
			answer.ShareText(answer.ShareOf(c.Share)), answer.FigureText(c.Size.Bytes), answer.FigureText(c.Size.Documents), rows, rows)
	}
	for _, p := range contents.Projects {
		rows := answer.RowShareOf(p.Rows)
		for _, part := range p.Collections {
			out.Row("project", name, string(part.NS), p.Project.ID.Hex(), p.Project.Name, p.Project.DB,
				strconv.Itoa(part.Chunks), strconv.Itoa(part.Of), answer.ShareText(answer.ShareOf(p.Share)), "", "", answer.ShareText(rows.Low), answer.ShareText(rows.High))
		}
	}
	return out.Done()
}
