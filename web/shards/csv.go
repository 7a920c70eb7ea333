package shards

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/answer/shares"
	"shardboard/internal/api"
	"shardboard/internal/sheet"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// suffixCSV after a shard's name asks for CSV where no shard is called so.
const suffixCSV = ".csv"

// Page is the page of a shard, or what is on it as CSV.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if base, ok := strings.CutSuffix(name, suffixCSV); ok && v.Table.Shard(name) == nil && v.Table.Shard(base) != nil {
		if v, err = s.LoadedAt(r); err != nil {
			return err
		}
		a, err := shares.Shard(v, s.Deps.Cluster.Profile, base, true)
		if err != nil {
			return err
		}
		return writeCSV(s, w, a)
	}
	return page(s, w, r, v, name)
}

// CSV is what is on a shard as a file for a ticket.
func CSV(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := shard(s, r, true)
	if err != nil {
		return err
	}
	return writeCSV(s, w, a)
}

func writeCSV(s *site.Site, w http.ResponseWriter, a api.ShardDetail) error {
	out := s.NewSheet(w, "kind", "shard", "ns", "project_id", "project_name", "db", "chunks", "chunks_of", "share",
		"bytes", "documents", "row_share_low", "row_share_high")
	w.Header().Set("Content-Disposition", `attachment; filename="`+sheet.FileName(a.Name)+`.csv"`)
	for _, c := range a.Contents {
		rows := sheet.Share(c.RowShare)
		out.Row("collection", a.Name, c.NS, "", "", topology.Namespace(c.NS).Database(), strconv.Itoa(c.Chunks), strconv.Itoa(c.Of),
			sheet.Share(c.Share), sheet.Figure(c.Bytes), sheet.Figure(c.Documents), rows, rows)
	}
	for _, p := range a.Projects {
		for _, c := range p.Collections {
			out.Row("project", a.Name, c.NS, p.ID, p.Name, p.DB, strconv.Itoa(c.Chunks), strconv.Itoa(c.Of),
				sheet.Share(p.Share), "", "", sheet.Share(p.RowShare.Low), sheet.Share(p.RowShare.High))
		}
	}
	return out.Close()
}
