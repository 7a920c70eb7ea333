package site

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/frontpage"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// decisionsWait bounds the read of which problems are dismissed, from our own store.
const decisionsWait = 2 * time.Second

// Shell is what surrounds every page. Who is not signed in gets nothing of the
// cluster, not even on an error page.
func (s *Site) Shell(r *http.Request, v answer.View, nav, title string, topics ...string) templates.Shell {
	who := auth.From(r.Context())
	if who.ID == "" {
		return templates.Shell{Title: title, Nav: nav, Version: s.Deps.Version}
	}
	if len(topics) == 0 && !s.ofCluster() {
		topics = []string{"clusters"}
	}
	if len(topics) == 0 {
		topics = []string{"zones"} // a quiet topic: its socket carries the status
	}
	sh := templates.Shell{
		Title:   title,
		Nav:     nav,
		Topics:  topics,
		Status:  s.Status(v),
		Shards:  templates.ShardRefs(v.Table),
		Target:  s.Deps.Cluster.Target,
		Server:  v.Table.ServerInfo.Release(),
		Demo:    s.Deps.Demo,
		Tour:    s.tourOf(r, who, nav),
		Version: s.Deps.Version,
		Opened:  v.Now.UTC().Format("2006-01-02 15:04:05 UTC"),
		You: templates.You{
			Name: sanitize.Truncate(who.Name, 60), Role: who.Role.Label(), CanLeave: who.Session != "",
			MayLocate: s.MayLocate(who), MayOperate: who.May(auth.Operator), MayAdmin: who.May(auth.Admin),
		},
		Banners:  s.banners(who, v),
		TakeOver: s.mayTakeOver(who),
		Runs:     s.Deps.Changes.Actions != nil,
		History:  s.Deps.Past.History != nil,
		CSV:      s.csvOf(r),
		OfServer: !s.ofCluster(),
		Cluster:  s.Deps.Place.Title,
		Clusters: s.clusterChoices(who),
	}
	sh.Waiting = s.waiting(r.Context(), v, who)
	sh.LastRecorded = s.lastRecorded(r, sh.Banners)
	s.fitToTime(r, v, &sh)
	sh.Windows = s.windowChoices(r, v)
	return sh
}

// windowChoices are the times that figures of writes on a page can be of; none of a past time, of which none are kept,
// and of the page of heat, which has a field for it.
func (s *Site) windowChoices(r *http.Request, v answer.View) (out []templates.WindowChoice) {
	rt, _ := s.routeAt(http.MethodGet, r.URL.EscapedPath())
	if !rt.Writes || v.Past != nil || s.Deps.Measured.Heat == nil || rt.Pattern == "/heat" {
		return nil
	}
	if of := map[string]string{"/matrix": "measure", "/shards/{name}/why": "by"}[rt.Pattern]; of != "" && r.URL.Query().Get(of) != "writes" {
		return nil // it shows something else
	}
	choices := writes.WritesWindows()
	if over := v.WritesWindow(); !slices.Contains(choices, over) {
		choices = append(choices, over)
	}
	for _, over := range choices {
		u, q := *r.URL, r.URL.Query()
		if q.Set(writes.WindowParam, writes.ShortDuration(over)); over == answer.DefaultWindow {
			q.Del(writes.WindowParam)
		}
		u.RawQuery = q.Encode()
		out = append(out, templates.WindowChoice{Text: format.Span(over), URL: u.RequestURI(), Current: over == v.WritesWindow()})
	}
	return out
}

// waiting counts the plans that wait for the approval of somebody. A failing store has its own banner.
func (s *Site) waiting(ctx context.Context, v answer.View, who auth.Principal) (n int) {
	if s.Deps.Changes.Actions == nil || !who.May(auth.Operator) {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, decisionsWait)
	defer cancel()
	list, _ := changing.WaitingPlans(ctx, v, s.Deps.Changes.Actions, who)
	for _, p := range list {
		if p.Yours {
			n++
		}
	}
	return n
}

// lastRecorded leads to the recorded state of a cluster that was not read yet: of the page, if it has
// a past.
func (s *Site) lastRecorded(r *http.Request, banners []message.Message) answer.LastRecorded {
	if !slices.ContainsFunc(banners, func(b message.Message) bool { return b.Code == frontpage.ConnectionBanner }) {
		return answer.LastRecorded{}
	}
	page := "/"
	if s.TimedPage(r.URL.EscapedPath()) {
		page = r.URL.RequestURI()
	}
	return s.LastRecorded(r.Context(), page)
}

// LastRecorded leads from a page to what is stored of a cluster that was not read yet.
func (s *Site) LastRecorded(ctx context.Context, page string) answer.LastRecorded {
	t := s.Deps.Cluster.Watcher.Table()
	if t.Loaded || s.KeepsHistory(answer.View{Table: t}) != nil {
		return answer.LastRecorded{}
	}
	ctx, cancel := context.WithTimeout(ctx, answer.RequestWait)
	defer cancel()
	at, err := s.Deps.Past.History.LastRecorded(ctx, t.ClusterID)
	if err != nil {
		return answer.LastRecorded{} // a failing store has its own banner
	}
	return answer.LastRecordedAt(page, at)
}

// csvOf is the address of the list that a page shows as CSV, at the same time and filtered
// in the same way; "" if it shows no list.
func (s *Site) csvOf(r *http.Request) string {
	file := *r.URL
	file.Path, file.RawPath = r.URL.Path+".csv", r.URL.EscapedPath()+".csv" // a name may have an escaped slash
	query := file.Query()
	if rt, _ := s.routeAt(http.MethodGet, r.URL.EscapedPath()); strings.HasSuffix(rt.Pattern, "}") && slices.Contains(rt.Types, MediaCSV) {
		file.Path, file.RawPath = r.URL.Path, r.URL.RawPath // a name ends the address, and may end in .csv
		query.Set(api.FormatParam, formatCSV)
	} else if rt, ok := s.routeAt(http.MethodGet, file.RawPath); !ok || !slices.Contains(rt.Types, MediaCSV) {
		return ""
	}
	query.Del("page") // a file has all of them
	query.Del("watch")
	file.RawQuery = query.Encode()
	return file.RequestURI()
}

// banners are what somebody has to know on every page.
func (s *Site) banners(who auth.Principal, v answer.View) []message.Message {
	d := s.Deps.Store
	own := frontpage.OwnData{Directory: d.Condition(), Trouble: d.troubleNow(), Leader: d.leader(), Now: s.Deps.Now(),
		Memory: d.Memory.State().Text()}
	if d.Unreadable != nil {
		own.Unreadable = s.Deps.Store.Unreadable()
	}
	if s.Deps.Audit.Trail != nil {
		st := s.Deps.Audit.Trail.State()
		own.Audit = &st
	}
	out := frontpage.Banners(who, own)
	t := v.Table // of a page of the past, not the newest
	if v.Past != nil {
		t = s.Deps.Cluster.Watcher.Table()
	}
	if b := frontpage.ConnectionBannerOf(t, v.Past != nil, s.Deps.Now()); s.ofCluster() && !b.IsZero() {
		out = append(out, b)
	}
	if s.ofCluster() && s.Deps.Changes.Actions != nil {
		for _, run := range s.Deps.Changes.Actions.OpenBatches() {
			out = append(out, changing.BatchBanner(run, s.Deps.Now()))
		}
	}
	return out
}

// WritePage draws a page. Validators, compression and the buffer that keeps a
// half-drawn page from leaving are the response's business.
func WritePage(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var buf bytes.Buffer
	if err := page.Render(r.Context(), &buf); err != nil {
		return fault.Wrap(fault.Internal, err, "The page could not be drawn.")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the browser is gone; nobody is left to tell
	return nil
}
