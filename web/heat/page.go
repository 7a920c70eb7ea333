// Package heat has the page and the answers of where writes go.
package heat

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page answers "where is it hot?".
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.HeatQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	from := source(s, r, v)
	from.Try = s.Tries(v)
	report, err := answer.Heat(v, from, q)
	if err != nil {
		return err
	}
	m := page{HeatReport: report, shards: templates.RefsOf(v.Table), say: templates.SentencesOf(v)}
	for _, shard := range v.Table.Shards {
		m.names = append(m.names, shard.Name)
	}
	return site.WritePage(w, r, http.StatusOK, heatPage(s.Shell(r, v, "heat", "Heat"), m))
}

// source is what counts writes, and whether the reader may make plans.
func source(s *site.Site, r *http.Request, v answer.View) answer.HeatSource {
	return answer.HeatSource{Counts: s.Deps.Heat, Pictures: s.Deps.Pictures, Plans: s.Offers(r, v.Table) != nil}
}

// ProjectsJSON, DocumentsJSON, ChunksJSON and ShardsJSON answer what is hot, hottest first.
func ProjectsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return listJSON(s, w, r, answer.HeatProjects)
}

func DocumentsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return listJSON(s, w, r, answer.HeatDocuments)
}

func ChunksJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return listJSON(s, w, r, answer.HeatChunks)
}

func ShardsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return listJSON(s, w, r, answer.HeatShards)
}

func listJSON(s *site.Site, w http.ResponseWriter, r *http.Request, lines answer.HeatLines) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	q, err := answer.HeatListQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	list, err := answer.HeatList(v, source(s, r, v), q, lines)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, list)
}

// RangeJSON answers who wrote to a range of keys lately.
func RangeJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	out, err := answer.HeatRange(v, source(s, r, v), r.URL.Query())
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// MapJSON answers a picture. Its version takes the place of an ETag, because it is made
// of more than the routing table.
func MapJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	from := source(s, r, v)
	if from.Pictures == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	q, err := answer.MapQueryOf(v, from, r.URL.Query())
	if err != nil {
		return err
	}
	version := strings.Join([]string{strconv.FormatInt(s.Born, 36), strconv.FormatInt(from.Pictures.Version(q.NS, q.By), 36),
		strconv.FormatUint(v.Table.Seq, 36)}, "-")
	if site.Matches(r.Header.Get("If-None-Match"), version) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	out, err := answer.HeatMap(v, from, q)
	if err != nil {
		return err
	}
	out.Version = version
	return site.WriteJSON(w, http.StatusOK, out)
}
