package fleet

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// inSharedWords is a request whose answer is drawn in the words of the clusters' profiles where all of them have the
// same words, and in ours elsewhere.
func inSharedWords(s *site.Site, r *http.Request) *http.Request {
	all := slices.DeleteFunc(slices.Clone(s.Deps.Place.Clusters.All()), func(c *site.Cluster) bool { return c.Site == nil })
	if len(all) == 0 {
		return r
	}
	first := all[0].Site.Deps.Cluster.Profile
	for _, c := range all[1:] {
		p := c.Site.Deps.Cluster.Profile
		if p.TenantWords() != first.TenantWords() || p.DocumentWords() != first.DocumentWords() {
			return r
		}
	}
	return r.WithContext(templates.WithWords(r.Context(), first.Words))
}

// summary is how many clusters there are, and how many of them need somebody.
func summary(rows []api.ClusterSummary) string {
	var away, critical, warned int
	for _, r := range rows {
		switch {
		case r.State == problems.ClusterFailed || r.State == problems.ClusterUnreachable || r.State == problems.ClusterDenied:
			away++
		case r.Severity == string(rules.Critical):
			critical++
		case r.Severity == string(rules.Warn):
			warned++
		}
	}
	parts := []string{format.Count(int64(len(rows))) + message.Plural(len(rows), " cluster", " clusters")}
	for _, c := range []struct {
		n    int
		text string
	}{
		{away, " not readable"},
		{critical, message.Plural(critical, " has a critical problem", " have critical problems")},
		{warned, message.Plural(warned, " has warnings", " have warnings")},
	} {
		if c.n > 0 {
			parts = append(parts, format.Count(int64(c.n))+c.text)
		}
	}
	return strings.Join(parts, " · ")
}

// level is how a row is drawn.
func level(r api.ClusterSummary) string {
	switch {
	case r.State == problems.ClusterFailed || r.State == problems.ClusterUnreachable || r.State == problems.ClusterDenied:
		return "bad"
	case r.State == problems.ClusterStale:
		return "warn"
	case r.State != problems.ClusterLive:
		return "loading"
	}
	return "ok"
}

func number(n *int) string {
	if n == nil {
		return format.Unknown
	}
	return format.Count(int64(*n))
}

func orUnknown(text string) string {
	if text == "" {
		return format.Unknown
	}
	return text
}

// configurationNotes say that the configuration file on the disk is not the one in force.
func configurationNotes(c site.Configuration) (out []api.State) {
	if !c.Failed.IsZero() {
		out = append(out, api.State{Code: "failed", Title: "The configuration that was read at " + clock(c.Failed) + " is not in force:",
			Detail: c.Problem + " The one of " + clock(c.Loaded) + " still is."})
	}
	if len(c.Pending) > 0 {
		out = append(out, api.State{Code: "stale", Title: "Changed in the configuration, and in force after a restart:",
			Detail: strings.Join(c.Pending, ", ") + "."})
	}
	if len(c.Left) > 0 {
		out = append(out, api.State{Code: "stale", Title: "Removed from the configuration while a run was under way:",
			Detail: strings.Join(c.Left, ", ") + ". The run is settled when that cluster is in the configuration again, under whatever name."})
	}
	return out
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// firstSentence cuts a text after its first sentence. A dot inside an address or a version ends none,
// because a capital letter does not follow it after a space.
func firstSentence(text string) (first, rest string) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '.' && text[i+1] == ' ' && 'A' <= text[i+2] && text[i+2] <= 'Z' {
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}

// ownAddress is the page's address while its links lead to a page of each cluster.
func ownAddress(to string) string {
	if to == "" {
		return "/"
	}
	return "/?to=" + url.QueryEscape(to)
}
