package locate

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/web/site"
)

// writeCSV writes a row for each place of each line's answers.
func writeCSV(s *site.Site, w http.ResponseWriter, lines []api.LocateLine) error {
	out := s.NewSheet(w, "line", "query", "kind", "id", "name", "project", "project_name",
		"ns", "shard", "shards", "state", "min", "max", "hash", "problem")
	w.Header().Set("Content-Disposition", `attachment; filename="locate.csv"`)
	for _, line := range lines {
		n := strconv.Itoa(line.Line)
		if line.Problem != nil {
			out.Row(n, line.Query, "", "", "", "", "", "", "", "", "", "", "", "", line.Problem.Detail)
			continue
		}
		if len(line.Items) == 0 { // an id that is in no collection by itself
			kind, id := "", ""
			if len(line.Anatomy) > 0 {
				kind, id = line.Anatomy[0].Kind, line.Anatomy[0].ID
			}
			out.Row(n, line.Query, kind, id, "", "", "", "", "", "", "unknown", "", "", "", "")
		}
		for _, it := range line.Items {
			for _, p := range it.Places {
				hash := ""
				if p.Hash != nil {
					hash = *p.Hash
				}
				out.Row(n, line.Query, it.Kind, it.ID, it.Name, it.Project, it.ProjectName, p.NS, p.Shard,
					strings.Join(p.Shards, " "), p.State, string(p.Min), string(p.Max), hash, "")
			}
		}
	}
	return out.Close()
}
