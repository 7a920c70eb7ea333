package site

import (
	"net/http"
	"sort"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/natural"
)

// PageOf is the page of a list in natural order of keyOf that r asks for. make turns
// one row into its wire form and is called for the rows of the page only.
func PageOf[R, T any](r *http.Request, rows []R, keyOf func(R) string, wire func(R) T) (api.List[T], error) {
	var out api.List[T]
	var key string
	var limit int
	if err := (param.List{param.Cursor(&key), param.Limit(&limit)}).Read(r.URL.Query()); err != nil {
		return out, err
	}
	from := 0
	if key != "" {
		from = sort.Search(len(rows), func(i int) bool { return natural.Compare(keyOf(rows[i]), key) >= 0 })
	}
	to := min(from+limit, len(rows))
	for _, row := range rows[from:to] {
		out.Items = append(out.Items, wire(row))
	}
	if to < len(rows) {
		out.Next = answer.CursorOf(keyOf(rows[to]))
	}
	return out, nil
}
