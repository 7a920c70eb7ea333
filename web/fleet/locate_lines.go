package fleet

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/web/site"
)

// Bounds of one request for many lines.
const (
	linesWait   = 15 * time.Second // for one cluster, less than a whole answer may take
	maxLineAsks = 10_000           // lines times clusters
	answered    = "answered"
)

// LinesJSON answers many lines, as JSON or as CSV.
func LinesJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	lines, err := site.ReadLines(r)
	if err != nil {
		return err
	}
	out, err := locateLines(r.Context(), s, lines, auth.From(r.Context()))
	if err != nil {
		return err
	}
	if site.WantsCSV(r) {
		return writeLinesCSV(s, w, out)
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// LinesPage is the empty box for many lines.
func LinesPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	r = inSharedWords(s, r)
	v := s.ViewFor(r)
	return site.WritePage(w, r, http.StatusOK, linesPage(s.Shell(r, v, "bulk", "Locate many lines"), "", "", api.ClusterLocateLines{}))
}

// LinesForm answers the box, as a page or as CSV. Lines that are refused as a whole stay in the box.
func LinesForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	r = inSharedWords(s, r)
	if err := site.ParseForm(r); err != nil {
		return err
	}
	text, problem, status := r.PostForm.Get("lines"), "", http.StatusOK
	lines, err := locating.LocateLines(strings.Split(text, "\n"))
	var out api.ClusterLocateLines
	if err == nil {
		out, err = locateLines(r.Context(), s, lines, auth.From(r.Context()))
	}
	if err != nil {
		status, problem = fault.Of(err).HTTPStatus(), s.ProblemText(w, err)
		text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	} else if r.PostForm.Get("as") == "csv" {
		return writeLinesCSV(s, w, out)
	}
	v := s.ViewFor(r)
	return site.WritePage(w, r, status, linesPage(s.Shell(r, v, "bulk", "Locate many lines"), text, problem, out))
}

// lineAnswer is what one cluster answers to one line.
type lineAnswer struct {
	state, text string
	found       []api.Located
	silent      bool // the text must not be repeated
}

// locateLines asks all clusters for all lines. Lines and clusters fail one by one.
func locateLines(ctx context.Context, s *site.Site, lines []string, who auth.Principal) (out api.ClusterLocateLines, err error) {
	list, err := allowed(s, who)
	if err != nil {
		return out, err
	}
	if len(lines)*len(list) > maxLineAsks {
		return out, fault.New(fault.Invalid, "These are %d lines for %d clusters. Send %d lines at most, or ask one cluster, below /c/NAME.",
			len(lines), len(list), maxLineAsks/len(list))
	}
	out.AsOf = s.Deps.Now()
	out.Clusters = make([]api.ClusterLocateState, len(list))
	answers := make([][]lineAnswer, len(list)) // by cluster, then by line
	var all sync.WaitGroup
	for i, a := range list {
		all.Go(func() { out.Clusters[i], answers[i] = linesIn(ctx, a, lines) })
	}
	all.Wait()
	for n, text := range lines {
		line := api.ClusterLocateLine{Line: n + 1, Query: text, Found: []api.LocatedOn{}, NotFound: []string{}, Unknown: []string{}}
		silent := false
		for i, c := range out.Clusters {
			if answers[i] == nil {
				continue // not permitted
			}
			one := answers[i][n]
			silent = silent || one.silent
			addAnswer(&line, c.Name, one)
		}
		if silent && len(line.Found) == 0 {
			line.Query = ""
		}
		out.Items = append(out.Items, line)
	}
	return out, nil
}

// addAnswer adds what one cluster answers. The state of a line is the first of locateOrder.
func addAnswer(line *api.ClusterLocateLine, cluster string, one lineAnswer) {
	for _, f := range one.found {
		line.Found = append(line.Found, api.LocatedOn{Cluster: cluster, Located: f})
	}
	switch one.state {
	case unreachable:
		line.Unknown = append(line.Unknown, cluster)
	case notFound, invalid:
		line.NotFound = append(line.NotFound, cluster)
	}
	if line.State == "" || slices.Index(locateOrder, one.state) < slices.Index(locateOrder, line.State) {
		line.State, line.Text = one.state, one.text
	}
}

// linesIn asks one cluster for all lines, a few at a time; nil answers if the caller may not ask it.
func linesIn(ctx context.Context, a asked, lines []string) (state api.ClusterLocateState, out []lineAnswer) {
	state = api.ClusterLocateState{Name: a.cluster.Name, Title: a.cluster.Title, State: answered}
	if why, text, not := a.notAsked(); not {
		state.State, state.Text = why, text
		if why == notPermitted {
			return state, nil
		}
		out = make([]lineAnswer, len(lines))
		for i := range out {
			out[i] = lineAnswer{state: why, text: text}
		}
		return state, out
	}
	ctx, cancel := context.WithTimeout(ctx, linesWait)
	defer cancel()
	v := a.cluster.Site.ViewBy(a.who)
	at, stale := answer.DirectoryAsOf(v)
	state.AsOf, state.Stale = api.Time(at), stale
	out = make([]lineAnswer, len(lines))
	locating.EachLine(lines, func(i int, text string) { out[i] = lineIn(ctx, a.cluster, v, text) })
	if i := slices.IndexFunc(out, func(l lineAnswer) bool { return l.state == unreachable }); i >= 0 {
		state.State, state.Text = unreachable, out[i].text
	}
	return state, out
}

// lineIn asks one cluster for one line.
func lineIn(ctx context.Context, c *site.Cluster, v answer.View, text string) (out lineAnswer) {
	defer func() {
		if p := recover(); p != nil {
			out = lineAnswer{state: unreachable, text: panicked(ctx, c, p)}
		}
	}()
	line, err := locating.LocateLine(ctx, v, c.Site.Deps.Locate.Locator, 0, text)
	out.silent = line.Query == ""
	for _, it := range line.Items {
		out.found = append(out.found, locatedOf(it, locateURL(c, placement.Query{Text: text})))
	}
	out.state, out.text = locateState(len(out.found) > 0, err, false)
	if err != nil && ctx.Err() != nil {
		out.state, out.text = unreachable, "It did not answer within 15 seconds."
	}
	if _, stale := answer.DirectoryAsOf(v); out.state == notFound && stale {
		out.state, out.text = unreachable, "What was read last does not have it, and that is not up to date."
	}
	if fault.Of(err) == fault.Internal {
		c.Site.Deps.Log.ErrorContext(ctx, "locate a line in all clusters", "err", err)
	}
	return out
}

// writeLinesCSV writes a row for each thing that was found, and one for each line without any.
func writeLinesCSV(s *site.Site, w http.ResponseWriter, a api.ClusterLocateLines) error {
	out := s.NewSheet(w, "line", "query", "state", "cluster", "kind", "id", "name", "project", "shards", "answer", "url",
		"not_found", "unknown", "problem")
	w.Header().Set("Content-Disposition", `attachment; filename="locate.csv"`)
	for _, l := range a.Items {
		n, not, unknown := strconv.Itoa(l.Line), strings.Join(l.NotFound, " "), strings.Join(l.Unknown, " ")
		if len(l.Found) == 0 {
			out.Row(n, l.Query, l.State, "", "", "", "", "", "", "", "", not, unknown, l.Text)
		}
		for _, f := range l.Found {
			out.Row(n, l.Query, l.State, f.Cluster, f.Kind, f.ID, f.Name, f.Project, strings.Join(f.Shards, " "), f.Answer, string(f.URL), not,
				unknown, "")
		}
	}
	return out.Close()
}
