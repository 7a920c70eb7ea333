package locate

import (
	"net/http"

	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// writeCSV writes a row for each place of each line's answers.
func writeCSV(s *site.Site, w http.ResponseWriter, lines []api.LocateLine) error {
	out := s.NewSheet(w, locating.LocateColumns()...)
	w.Header().Set("Content-Disposition", `attachment; filename="locate.csv"`)
	for _, row := range locating.LocateRows(lines) {
		out.Row(row...)
	}
	return out.Close()
}
