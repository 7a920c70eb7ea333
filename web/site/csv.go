package site

import (
	"fmt"
	"net/http"
	"path"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sheet"
)

// maxLines is how many lines of a list a CSV file holds: an answer is made in memory.
const maxLines = 100_000

// writeCSV is the handler that writes the whole list, page by page from ?cursor= on. A list that is longer than
// a file may be ends with a line that says so, and a link to the rest.
func (q Question[A]) writeCSV(columns sheet.Columns) func(*Site, http.ResponseWriter, *http.Request) error {
	return func(s *Site, w http.ResponseWriter, r *http.Request) error {
		query := r.URL.Query()
		out := s.NewSheet(w, columns.Names()...)
		w.Header().Set("Content-Disposition", `attachment; filename="`+sheet.FileName(path.Base(q.Pattern))+`.csv"`)
		for lines := 0; ; {
			query.Set("limit", fmt.Sprint(api.MaxLimit))
			page := r.Clone(r.Context())
			page.URL.RawQuery = query.Encode()
			a, err := q.Ask(s, page)
			if err != nil {
				return err
			}
			written, next := out.List(columns, a)
			if lines += written; next == "" {
				return out.Close()
			}
			query.Set("cursor", string(next))
			if lines >= maxLines {
				query.Del("limit")
				rest := "?" + query.Encode()
				w.Header().Set("Link", `<`+rest+`>; rel="next"`)
				cells := make([]string, len(columns.Names()))
				cells[0] = fmt.Sprintf("More lines follow: a file has at most %s. Continue at %s", format.Count(maxLines), rest)
				out.Row(cells...)
				return out.Close()
			}
		}
	}
}

// NewSheet begins a CSV file with its header. Addresses in it are as browsers have them.
func (s *Site) NewSheet(w http.ResponseWriter, header ...string) sheet.Writer {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	out := sheet.NewWriter(w, header...)
	out.Address = s.Deps.Place.Base.Whole
	return out
}
