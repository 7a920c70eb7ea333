package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// view is the newest state of everything a page shows.
func (s *Site) View() answer.View {
	v := answer.View{Data: s.condition(), Table: s.Deps.Watcher.Table(), Dir: s.Deps.Keeper.Directory(), Profile: s.Deps.Profile,
		Now: s.Deps.Now(), Runs: s.Deps.Runs, Sizes: s.Deps.Sizes, Writes: s.chunkWrites}
	if s.Deps.Runs != nil {
		v.FlightRuns = func() []history.OurRun { return s.flightRuns.Of(v) }
	}
	if t := s.troubleNow(); t != nil {
		v.Trouble = t.Title()
	}
	if s.Deps.Cost != nil {
		v.Cost = s.Deps.Cost()
	}
	if s.Deps.Pins != nil {
		v.Pins, v.PinsVersion = s.Deps.Pins.Pins()
	}
	ctx, cancel := context.WithTimeout(context.Background(), answer.DecisionsWait)
	defer cancel()
	found := s.Deps.Advice.ViewOf(ctx, v.Table, v.Dir)
	v.Found = &found
	return v
}

// shell is what surrounds every page. Who is not signed in gets nothing of the
// cluster, not even on an error page.
func (s *Site) Shell(r *http.Request, v answer.View, nav, title string, topics ...string) templates.Shell {
	who := auth.From(r.Context())
	if who.ID == "" {
		return templates.Shell{Title: title, Nav: nav, Version: s.Deps.Version}
	}
	if len(topics) == 0 {
		topics = []string{"zones"} // a quiet topic: its socket carries the status
	}
	sh := templates.Shell{
		Title:   title,
		Nav:     nav,
		Topics:  topics,
		Status:  answer.Status(v),
		Shards:  templates.ShardRefs(v.Table),
		Target:  s.Deps.Target,
		Server:  v.Table.ServerInfo.Version,
		Demo:    s.Deps.Demo,
		Version: s.Deps.Version,
		You:     youView(who),
		Banners: s.banners(who), TakeOver: s.mayTakeOver(who),
		Runs: s.Deps.Actions != nil,
		CSV:  s.csvOf(r),
	}
	s.inTime(r, v, &sh)
	return sh
}

// csvOf is the address of the list that a page shows as CSV, at the same time and filtered
// in the same way; "" if it shows no list.
func (s *Site) csvOf(r *http.Request) string {
	file := *r.URL
	file.Path, file.RawPath = r.URL.Path+".csv", ""
	if rt, ok := s.routeAt(http.MethodGet, file.Path); !ok || !slices.Equal(rt.Types, []string{MediaCSV}) {
		return ""
	}
	query := file.Query()
	query.Del("page") // a file has all of them
	query.Del("watch")
	file.RawQuery = query.Encode()
	return file.RequestURI()
}

// youView is who looks at a page, and what it offers them.
func youView(who auth.Principal) templates.You {
	return templates.You{
		Name: sanitize.Truncate(who.Name, 60), Role: who.Role.Label(), CanLeave: who.Session != "",
		MayLocate: who.May(auth.Support), MayOperate: who.May(auth.Operator), MayAdmin: who.May(auth.Admin),
	}
}

// banners are what everybody must know on every page. One cause has one banner:
// while the data directory is lost, troubles with its files come from that.
func (s *Site) banners(who auth.Principal) []string {
	var out []string
	if who.Method == auth.ByNone {
		out = append(out, "Sign-in is off: everybody is “local” with every role.")
	}
	if who.Method == auth.ByDemo {
		out = append(out, "This is a demo: nobody signs in, and everybody on this machine is its operator.")
	}
	if who.Method == auth.ByBreakGlass {
		out = append(out, "You are signed in with the emergency account. Everything you do is recorded as such.")
	}
	if b := s.dataBanner(); b != "" {
		out = append(out, b)
	}
	if text := s.troubleBanner(who); text != "" && !s.condition().Lost() {
		out = append(out, text)
	}
	if text := s.unreadableBanner(); text != "" {
		out = append(out, text)
	}
	if s.Deps.Audit != nil && who.May(auth.Operator) && !s.auditExplained() {
		out = append(out, answer.AuditBanner(s.Deps.Audit.State())...)
	}
	return out
}

// auditExplained tells whether the banner of the data directory or of the database
// has the cause of what is wrong with the audit record already. A record that was
// changed and a witness that fails always have a banner of their own.
func (s *Site) auditExplained() bool {
	st := s.Deps.Audit.State()
	t := st.Trouble()
	if t == nil || st.Break != nil || t.Code == string(audit.StageWitness) {
		return false
	}
	if s.condition().Lost() {
		return true
	}
	data := s.troubleNow() // one that passes by itself is no cause of damage
	if own, known := store.TroubleOf(st.Err); known && data != nil && own.Code == store.TroubleSchema && own.Cause != data.Cause {
		return false // another table is missing too
	}
	return data != nil && (data.Lasting() || t.Code != audit.Damaged)
}

// writePage draws a page. Validators, compression and the buffer that keeps a
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

// writeErrorPage answers a failed page request: the status of the fault's kind
// and a page that says what happened, what was asked for and where to go on.
func (s *Site) WriteErrorPage(w http.ResponseWriter, r *http.Request, err error) {
	kind := fault.Of(err)
	title, text, advice := kind.Heading(), fault.Text(err), kind.Advice()
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
	if text == "Nothing can be done from here. The log of the server says which file it is and what to do; tell who runs shardboard, "+
		"and try again later." {
		advice = "" // it would promise that waiting helps
	}
	if b, ours := asBug(err); ours {
		text = s.bugText(b)
	}
	sh := s.Shell(r, s.ViewFor(r), "", title)
	sh.Banners = s.unsaid(sh, auth.From(r.Context()), err)
	page := templates.Error(sh, text, advice)
	if werr := WritePage(w, r, kind.HTTPStatus(), page); werr != nil {
		http.Error(w, fault.Text(err), kind.HTTPStatus())
	}
}

// unsaid are the banners of an error page but for the one that says what the page
// says.
func (s *Site) unsaid(sh templates.Shell, who auth.Principal, err error) []string {
	said := ""
	if t := s.troubleNow(); t != nil && fault.Title(err) == t.Title() {
		said = s.troubleBanner(who)
	}
	if c := s.condition(); c.Err != nil && errors.Is(err, c.Err) && !sh.TakeOver { // the button stands below it
		said = s.dataBanner()
	}
	return slices.DeleteFunc(sh.Banners, func(b string) bool { return b == said })
}
