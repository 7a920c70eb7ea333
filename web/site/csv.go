package site

import (
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sheet"
)

// maxLines is how many lines of a list a CSV file holds: an answer is made in memory.
const maxLines = 100_000

// Sheet is how an answer is written as CSV.
type Sheet[A any] struct {
	Header []string
	Rows   func(out sheet.Writer, a A) (lines int, next api.Cursor)
	Name   func(A) string // of the file, without ".csv"; nil: after the address
}

func (f Sheet[A]) isList() bool { return f.Rows != nil }

// sheet is that of the question, or one whose columns follow from the type of the items;
// zero if the answer is not a list.
func (q Question[A]) sheet() Sheet[A] {
	item := sheet.ItemsOf(reflect.TypeFor[A]())
	if q.CSV.Rows != nil || item == nil {
		return q.CSV
	}
	columns := sheet.ColumnsOf(item)
	return Sheet[A]{Header: columns.Names(), Rows: func(out sheet.Writer, a A) (int, api.Cursor) { return out.List(columns, a) }}
}

// writeCSV writes the whole list, page by page from ?cursor= on. A list that is longer than
// a file may be ends with a line that says so, and a link to the rest.
func (q Question[A]) writeCSV(s *Site, w http.ResponseWriter, r *http.Request) error {
	f, query := q.sheet(), r.URL.Query()
	out := NewSheet(w, f.Header...)
	for lines := 0; ; {
		query.Set("limit", fmt.Sprint(api.MaxLimit))
		page := r.Clone(r.Context())
		page.URL.RawQuery = query.Encode()
		a, err := q.Ask(s, page)
		if err != nil {
			return err
		}
		if lines == 0 {
			name := strings.TrimSuffix(path.Base(strings.ReplaceAll(q.Pattern, "/{ns}", "")), ".csv")
			if f.Name != nil {
				name = f.Name(a)
			}
			w.Header().Set("Content-Disposition", `attachment; filename="`+sheet.FileName(name)+`.csv"`)
		}
		written, next := f.Rows(out, a)
		if lines += written; next == "" {
			return out.Close()
		}
		query.Set("cursor", string(next))
		if lines >= maxLines {
			query.Del("limit")
			rest := "?" + query.Encode()
			w.Header().Set("Link", `<`+rest+`>; rel="next"`)
			cells := make([]string, len(f.Header))
			cells[0] = fmt.Sprintf("More lines follow: a file has at most %s. Continue at %s", format.Count(maxLines), rest)
			out.Row(cells...)
			return out.Close()
		}
	}
}

// NewSheet begins a CSV file with its header.
func NewSheet(w http.ResponseWriter, header ...string) sheet.Writer {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	return sheet.NewWriter(w, header...)
}
