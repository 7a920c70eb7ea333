package locate

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// ownPage is the page of this dashboard whose address a text is, whole or without its host; "" for any other
// text. Addresses of a project alone and of a search are answered here.
func ownPage(s *site.Site, r *http.Request, text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.User != nil || u.Path == "" || u.Path == "/" && u.Host == "" || u.Path == "/locate" {
		return ""
	}
	if u.Host != "" && u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) && u.Host != "" {
		return ""
	}
	if id, ok := strings.CutPrefix(u.Path, "/projects/"); ok && !strings.Contains(id, "/") && u.RawQuery == "" {
		return ""
	}
	return localPage(s, u)
}

func localPage(s *site.Site, u *url.URL) string {
	to := s.LocalPage((&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String())
	if to != "" && u.Fragment != "" {
		to += "#" + u.EscapedFragment()
	}
	return to
}

// pageHere is the same page on this dashboard for an address of another one; "" where there is none. It is
// offered and not gone to: a shard or run of this name here may be another one.
func pageHere(s *site.Site, r *http.Request, text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.User != nil || u.Host == "" || strings.EqualFold(u.Host, r.Host) || strings.Count(u.Path, "/") < 2 {
		return ""
	}
	return localPage(s, u)
}

// recordID is the form of the ids of plans and runs.
var recordID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// named lists what else has exactly this name or id: shards, collections and zones, a run or plan.
func named(ctx context.Context, s *site.Site, v answer.View, text string) []api.FoundItem {
	text = strings.TrimSpace(text)
	out := locating.ExactlyNamed(v, text)
	if s.Deps.Changes.Actions == nil || !recordID.MatchString(text) {
		return out
	}
	if run, err := s.Deps.Changes.Actions.RunByID(ctx, text); err == nil {
		out = append(out, api.FoundItem{Kind: "run", Name: changing.RunOf(v, run).Title.String(), URL: api.Address("/runs/" + run.ID)})
	}
	if plan, err := s.Deps.Changes.Actions.PlanByID(ctx, text); err == nil {
		out = append(out, api.FoundItem{Kind: "plan", Name: changing.PlanTitle(v, plan), URL: api.Address("/plans/" + text)})
	}
	return out
}
