package fleet

import (
	"net/http"
	"net/url"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// LocatePage is one box, and what each cluster answers.
func LocatePage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	r = inSharedWords(s, r)
	v := s.ViewFor(r)
	q, err := parseLocate(r.URL.Query())
	status, problem := http.StatusOK, ""
	var rows []api.ClusterLocate
	if asks := q.Text != "" || q.NS != ""; err == nil && asks {
		q.Near = true // a person reads the note
		rows, err = locateAll(r.Context(), s, q, auth.From(r.Context()))
	}
	if err != nil {
		status, problem = fault.Of(err).HTTPStatus(), s.ProblemText(w, err)
	}
	sh := s.Shell(r, v, "locate", "Locate")
	if rows == nil {
		sh.CSV = "" // there is no list
	}
	q.Text, q.Key = sanitize.Truncate(q.Text, placement.MaxQueryBytes), sanitize.Truncate(q.Key, 2000)
	q.NS = topology.Namespace(sanitize.Truncate(string(q.NS), 300))
	return site.WritePage(w, r, status, locatePage(sh, q, problem, rows))
}

// nearURL is the same question to a cluster for a project with a near name.
func nearURL(r api.ClusterLocate, q placement.Query, n api.NearProject) string {
	base, _, _ := strings.Cut(string(r.URL), "?")
	text := n.ID
	if _, key, ok := strings.Cut(q.Text, "/"); ok && strings.TrimSpace(r.Near.Typed) != q.Text {
		text += "/" + key
	}
	return base + "?q=" + url.QueryEscape(text)
}

// linesSummary says how many lines were found, and which clusters were not asked.
func linesSummary(a api.ClusterLocateLines) string {
	n, unsure := 0, 0
	for _, l := range a.Items {
		switch l.State {
		case found:
			n++
		case unreachable:
			unsure++
		}
	}
	parts := []string{"Found " + format.Count(int64(n)) + " of " + format.Count(int64(len(a.Items))) +
		message.Plural(len(a.Items), " line", " lines")}
	if unsure > 0 {
		parts = append(parts, format.Count(int64(unsure))+" not known: not all clusters answer")
	}
	return strings.Join(parts, " · ")
}

// locateSummary says in how many clusters it was found, and of how many nothing is known.
func locateSummary(rows []api.ClusterLocate) string {
	n := map[string]int{}
	for _, r := range rows {
		n[r.State]++
	}
	answered := len(rows) - n[unreachable] - n[notPermitted]
	of := format.Count(int64(answered)) + message.Plural(answered, " cluster", " clusters")
	if answered < len(rows) {
		of += message.Plural(answered, " that answers", " that answer")
	}
	parts := []string{"Found in " + format.Count(int64(n[found])) + " of " + of}
	switch {
	case answered == 0:
		parts[0] = "No cluster answers"
	case n[found] == 0:
		parts[0] = "Found in none of " + of
	}
	for _, c := range []struct{ state, text string }{{unreachable, " not known"}, {notPermitted, " not permitted"}} {
		if n[c.state] > 0 {
			parts = append(parts, format.Count(int64(n[c.state]))+c.text)
		}
	}
	return strings.Join(parts, " · ")
}

// locateStates are the states in words, and how they are drawn.
var locateStates = map[string][2]string{
	found: {"Found", "ok"}, unreachable: {"Not known", "bad"}, invalid: {"Cannot be asked", "warn"},
	notFound: {"Not found", "loading"}, notPermitted: {"Not permitted", "loading"},
}
