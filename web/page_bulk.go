package web

import (
	"net/http"
	"strings"

	"shardboard/internal/fault"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageBulk is the empty box for many lines.
func (s *Site) pageBulk(w http.ResponseWriter, r *http.Request) error {
	sh := s.shell(r, s.viewFor(r), "locate", words.T("bulk.title"))
	return writePage(w, r, http.StatusOK, templates.BulkPage(sh, templates.Bulk{}))
}

// pageBulkAnswer answers the box, as a table or as a file. Lines that are
// wrong as a whole keep their box, to be corrected in place.
func (s *Site) pageBulkAnswer(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	text := r.PostForm.Get("lines")
	sh := s.shell(r, s.viewFor(r), "locate", words.T("bulk.title"))
	lines, err := keptLines(strings.Split(text, "\n"))
	if err != nil {
		kind := fault.Of(err)
		m := templates.Bulk{Text: strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "�"), "�"), Problem: s.problemText(w, err)}
		return writePage(w, r, kind.HTTPStatus(), templates.BulkPage(sh, m))
	}
	found := s.locateLines(r, lines)
	if r.PostForm.Get("as") == "csv" {
		return writeLocateCSV(w, found)
	}
	m := bulkView(s.viewFor(r), found)
	m.Text = text
	return writePage(w, r, http.StatusOK, templates.BulkPage(sh, m))
}

// parseForm reads a form of ours: urlencoded, nothing else.
func parseForm(r *http.Request) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return &statusError{status: http.StatusUnsupportedMediaType, text: "Send the page's form."}
	}
	if err := r.ParseForm(); err != nil {
		if tooLarge(err) {
			return err
		}
		return fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return nil
}
