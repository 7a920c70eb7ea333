package site

import (
	"errors"
	"net/http"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// WriteErrorPage answers a failed page request: the status of the fault's kind
// and a page that says what happened, what was asked for and where to go on.
func (s *Site) WriteErrorPage(w http.ResponseWriter, r *http.Request, err error) {
	kind := fault.Of(err)
	m := parts.ErrorView(kind, fault.Text(err))
	var denied *topology.DeniedError
	if kind == fault.Forbidden && errors.As(err, &denied) { // by the cluster, not by us
		m.Advice = "The cluster user lacks a privilege; the overview names it."
	}
	if advice := s.outageAdvice(err); advice != "" {
		m.Title, m.Advice = fault.NoAnswerTitle, advice
	}
	if title := fault.Title(err); title != "" {
		m.Title = title
	}
	if t, ok := store.TroubleOf(err); ok {
		m.Text, m.Advice = troubleText(err, m.Text), "Since "+t.Since.Format("2006-01-02 15:04:05 UTC")+"."
	}
	if m.Text == logHasTheFile {
		m.Advice = "" // it would promise that waiting helps
	}
	if b, ours := asBug(err); ours {
		m.Text = s.bugText(b)
	}
	sh := s.Shell(r, s.ViewFor(r), "", m.Title)
	sh.Banners = s.otherBanners(sh, err)
	page := templates.Error(sh, m)
	if werr := WritePage(w, r, kind.HTTPStatus(), page); werr != nil {
		http.Error(w, fault.Text(err), kind.HTTPStatus())
	}
}

// otherBanners are the banners of an error page without the one that says the same as
// the page.
func (s *Site) otherBanners(sh templates.Shell, err error) []message.Message {
	said := ""
	if t := s.troubleNow(); t != nil && fault.Title(err) == t.Title() {
		said = answer.TroubleBanner
	}
	if c := s.DataCondition(); c.Err != nil && errors.Is(err, c.Err) && !sh.TakeOver { // the button stands below it
		said = answer.DataBanner
	}
	return slices.DeleteFunc(sh.Banners, func(b message.Message) bool { return b.Code == said })
}
