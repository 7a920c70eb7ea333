package matrix

import (
	"context"
	"fmt"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page is the matrix of collections or projects and shards.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[spread.MatrixQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "matrix", "Matrix", "matrix:"+q.Topic())
	return site.WritePage(w, r, http.StatusOK, matrixPage(sh, q, regionOf(r.Context(), s, v, q)))
}

// list is the matrix for scripts.
func list(s *site.Site, r *http.Request) (a api.List[api.MatrixRow], err error) {
	q, err := param.Read[spread.MatrixListQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	if q.Projects && !v.Dir.Loaded() {
		return a, answer.CheckProjects(v)
	}
	return spread.MatrixList(v, source(r.Context(), s), q)
}

func source(ctx context.Context, s *site.Site) spread.MatrixSource {
	return spread.MatrixSource{Counts: s.Deps.Measured.Heat, Runs: spread.OpenRuns(ctx, s.Deps.Changes.Actions)}
}

// view is the matrix with what only its page needs.
type view struct {
	spread.MatrixTable
	shards templates.Refs
	pager  templates.Pager
	live   string // address of the live region; "" for the one that all share
	now    answer.View
}

func regionOf(ctx context.Context, s *site.Site, v answer.View, q spread.MatrixQuery) templ.Component {
	m := view{MatrixTable: spread.Matrix(v, source(ctx, s), q), shards: templates.RefsOf(v.Table), now: v}
	m.pager = templates.PagerOfRows(m.Pages, q.Page, max(m.OnPage, 1), func(page int) string {
		to := q
		if to.Page = page; page == 1 {
			to.Page = 0
		}
		return to.URL()
	})
	if !q.Usual() {
		m.live = q.URL()
	}
	return region(m)
}

// summary says what the numbers are.
func (m view) summary() string {
	what := map[string]string{
		spread.MatrixBytes: "Data", spread.MatrixDocuments: "Documents",
		spread.MatrixWrites: "Writes per second in " + m.now.LastWrites(), spread.MatrixReads: "Reads per second",
	}[m.Query.Measure]
	of := map[string]string{
		spread.MatrixOfRow:    ", where a row adds up to 100 %",
		spread.MatrixOfColumn: ", where a shard adds up to 100 %",
	}[m.Query.Show]
	rows, shade := "collection", "row"
	if m.Query.Projects {
		rows = "project"
	}
	if m.Query.Show == spread.MatrixOfColumn {
		shade = "column"
	}
	if of != "" {
		what += " in %"
	}
	out := fmt.Sprintf("%s by %s and shard%s. The stronger the shade of a cell, the larger its share of the %s.", what, rows, of, shade)
	if m.Query.Measure == spread.MatrixReads {
		out += " By the servers' own counters in the last half minute, of all programs. Which project reads is not known."
	}
	return out
}

// caption names the table for screen readers, with the unit of its numbers.
func (m view) caption() string {
	rows := "Collections"
	if m.Query.Projects {
		rows = "Projects"
	}
	unit := map[string]string{spread.MatrixBytes: "bytes", spread.MatrixDocuments: "documents", spread.MatrixWrites: "writes per second",
		spread.MatrixReads: "reads per second"}
	return rows + " by shard, " + unit[m.Query.Measure]
}

// rowClass is the class of a row.
func rowClass(r spread.MatrixRow) string {
	if r.Depth > 0 {
		return r.Kind + " deep"
	}
	return r.Kind
}

// fullName is the title of a name that is likely to be cut.
func fullName(r spread.MatrixRow) templ.Attributes {
	if len(r.Name) < 32 {
		return nil
	}
	return templ.Attributes{"title": r.Name}
}
