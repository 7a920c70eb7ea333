package site

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"shardboard/internal/answer/frontpage"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// WriteErrorPage answers a failed page request: the status of the fault's kind
// and a page that says what happened, what was asked for and where to go on.
func (s *Site) WriteErrorPage(w http.ResponseWriter, r *http.Request, err error) {
	kind := fault.Of(err)
	title, text, advice := kind.Heading(), fault.Text(err), fault.Advice(err)
	var denied *topology.DeniedError
	if kind == fault.Forbidden && errors.As(err, &denied) { // by the cluster, not by us
		advice = "The cluster user lacks a privilege; the overview names it."
	}
	if outage := s.outageAdvice(err); outage != "" {
		title, advice = fault.NoAnswerTitle, outage
	}
	title = cmp.Or(fault.Title(err), title)
	if t, ok := store.TroubleOf(err); ok {
		text, advice = troubleText(err, text), "Since "+t.Since.Format("2006-01-02 15:04:05 UTC")+"."
	}
	if text == logHasTheFile {
		advice = "" // it would promise that waiting helps
	}
	if b, ours := asBug(err); ours {
		text = s.bugText(b)
	}
	sh := s.errorShell(r, title)
	sh.Banners = s.otherBanners(sh, err)
	page := templates.Error(sh, text, advice)
	if werr := WritePage(w, r, kind.HTTPStatus(), page); werr != nil {
		http.Error(w, fault.Text(err), kind.HTTPStatus())
	}
}

// errorShell is the shell of an error page, without what would fail like the page.
func (s *Site) errorShell(r *http.Request, title string) templates.Shell {
	sh := s.Shell(r, s.ViewFor(r), "", title)
	sh.CSV, sh.Windows, sh.Request = "", nil, RequestID(r.Context())
	return sh
}

// otherBanners are the banners of an error page without the one that says the same as
// the page.
func (s *Site) otherBanners(sh templates.Shell, err error) []message.Message {
	said := ""
	if t := s.Deps.Store.troubleNow(); t != nil && fault.Title(err) == t.Title() {
		said = frontpage.TroubleBanner
	}
	if c := s.Deps.Store.Condition(); c.Err != nil && errors.Is(err, c.Err) && !sh.TakeOver { // the button stands below it
		said = frontpage.DataBanner
	}
	return slices.DeleteFunc(sh.Banners, func(b message.Message) bool { return b.Code == said })
}
