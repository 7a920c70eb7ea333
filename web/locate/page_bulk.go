package locate

import (
	"net/http"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pageBulk is the empty box for many lines.
func PageBulk(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "locate", "Locate many lines")
	return site.WritePage(w, r, http.StatusOK, BulkPage(sh, templates.Bulk{}))
}

// pageBulkAnswer answers the box, as a table or as a file. Lines that are
// wrong as a whole keep their box, to be corrected in place.
func PageBulkAnswer(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	text := r.PostForm.Get("lines")
	sh := s.Shell(r, s.ViewFor(r), "locate", "Locate many lines")
	lines, err := answer.KeptLines(strings.Split(text, "\n"))
	if err != nil {
		kind := fault.Of(err)
		m := templates.Bulk{Text: strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "�"), "�"), Problem: s.ProblemText(w, err)}
		return site.WritePage(w, r, kind.HTTPStatus(), BulkPage(sh, m))
	}
	found := locateLines(s, r, lines)
	if r.PostForm.Get("as") == "csv" {
		return site.WriteLocateCSV(w, found)
	}
	m := bulkView(s.ViewFor(r), found)
	m.Text = text
	return site.WritePage(w, r, http.StatusOK, BulkPage(sh, m))
}
