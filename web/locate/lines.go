package locate

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// LinesJSON answers many lines, as JSON or as CSV. Lines fail one by one: a list
// pasted from a ticket is never perfect.
func LinesJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	lines, err := site.ReadLines(r)
	if err != nil {
		return err
	}
	out := api.List[api.LocateLine]{Items: locateLines(s, r, lines)}
	if site.WantsCSV(r) {
		return writeCSV(s, w, out.Items)
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(s.ViewFor(r))
	return site.WriteJSON(w, http.StatusOK, out)
}

// LinesPage is the empty box for many lines.
func LinesPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	return site.WritePage(w, r, http.StatusOK, linesWhole(s.Shell(r, v, "bulk", "Locate many lines"), linesPage{v: v}))
}

// LinesForm answers the box, as a page or as CSV. Lines that are refused as a whole
// stay in the box, to be corrected in place.
func LinesForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil && !errors.Is(err, site.ErrNotText) { // the box says which line it is
		return err
	}
	v := s.ViewFor(r)
	p, status := linesPage{v: v, text: r.PostForm.Get("lines")}, http.StatusOK
	lines, err := locating.LocateLines(strings.Split(p.text, "\n"))
	if err != nil {
		status, p.problem = fault.Of(err).HTTPStatus(), s.ProblemText(w, err)
		p.text = strings.ToValidUTF8(strings.ReplaceAll(p.text, "\x00", "\uFFFD"), "\uFFFD")
	} else {
		p.lines = locateLines(s, r, lines)
		if r.PostForm.Get("as") == "csv" {
			return writeCSV(s, w, p.lines)
		}
	}
	return site.WritePage(w, r, status, linesWhole(s.Shell(r, v, "bulk", "Locate many lines"), p))
}

type linesPage struct {
	v       answer.View
	text    string // what is in the box
	problem string
	lines   []api.LocateLine
}

func locateLines(s *site.Site, r *http.Request, lines []string) []api.LocateLine {
	out := make([]api.LocateLine, len(lines))
	locating.EachLine(lines, func(i int, text string) { out[i] = locateLine(s, r, i+1, text) })
	return out
}

func locateLine(s *site.Site, r *http.Request, n int, text string) (line api.LocateLine) {
	// This runs on a goroutine of its own, so a panic would end the process.
	defer func() {
		if p := recover(); p != nil {
			s.Deps.Log.ErrorContext(r.Context(), "panic while locating a line", "line", n,
				"panic", site.LogText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			problem := api.ProblemOf(errors.New("panic"), s.Asked(r))
			line = api.LocateLine{
				Line:    n,
				Query:   text,
				Items:   []api.LocateItem{},
				Input:   []api.Reading{},
				Anatomy: []api.Anatomy{},
				Problem: &problem,
			}
		}
	}()
	line, err := locating.LocateLine(r.Context(), s.ViewFor(r), s.Deps.Locate.Locator, n, text)
	if err != nil {
		if fault.Of(err) == fault.Internal {
			s.Deps.Log.ErrorContext(r.Context(), "locate a line", "line", n, "err", err)
		}
		p := s.ProblemOf(err, s.Asked(r))
		line.Problem = &p
	}
	return line
}
