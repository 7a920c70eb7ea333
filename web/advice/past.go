package advice

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/postmortem"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// pastList is a page of past problems with its filter.
type pastList struct {
	api.PastProblems
	query problems.PastProblemsQuery
}

// past is the list of past problems, the newest first.
func past(s *site.Site, r *http.Request) (api.PastProblems, error) {
	m, err := pastOf(s, r, s.ViewFor(r))
	return m.PastProblems, err
}

func pastOf(s *site.Site, r *http.Request, v answer.View) (m pastList, err error) {
	if err = m.query.Parameters(v.Now).Read(r.URL.Query()); err != nil {
		return m, err
	}
	m.PastProblems, err = problems.PastProblemList(r.Context(), v, s.Deps.Problems.Past, s.Deps.Past.History != nil, m.query)
	return m, err
}

// PastPage lists which problems there were.
func PastPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	m, err := pastOf(s, r, v)
	if err != nil {
		return err
	}
	return site.WritePage(w, r, http.StatusOK, pastPage(s.Shell(r, v, "past", "Past problems"), m, templates.SentencesOf(v)))
}

// filters tells whether the list leaves problems out.
func (m pastList) filters() bool { return m.query.Rule+m.query.Shard != "" }

func (m pastList) rules(ctx context.Context) []templates.Option {
	out := []templates.Option{{Text: "any", Selected: m.query.Rule == ""}}
	for _, r := range rules.Rules() {
		out = append(out, templates.Option{Value: string(r), Text: templates.Words(ctx, r.Name()), Selected: string(r) == m.query.Rule})
	}
	return out
}

// postmortem is the address of the post-mortem of the list's time, or of the end of it.
func (m pastList) postmortem() string { return problems.PostmortemURL(m.From, m.To, m.AsOf) }

// empty is shown instead of rows.
func (m pastList) empty() api.State {
	switch {
	case len(m.Items) > 0:
		return api.State{}
	case m.filters():
		return api.State{Code: "empty", Title: "No past problem matches the filter"}
	case len(m.NotJudged) > 0:
		return api.State{Code: "empty", Title: "No problem is known of this time", Detail: problems.NotJudgedText(m.NotJudged)}
	}
	return api.State{Code: "empty", Title: "No problem was found in this time"}
}

// next is the address of older problems; "" after the last.
func (m pastList) next() string {
	if m.Next == "" {
		return ""
	}
	return m.query.URL(m.Next)
}

// postmortem is what was wrong in a time, what was done, and what that changed.
func postmortemOf(s *site.Site, r *http.Request) (api.Postmortem, error) {
	v := s.ViewFor(r)
	var from, to time.Time
	if err := postmortem.Parameters(&from, &to, v.Now).Read(r.URL.Query()); err != nil {
		return api.Postmortem{}, err
	}
	return postmortem.Postmortem(r.Context(), v, postmortem.PostmortemSources{Problems: s.Deps.Problems.Past, Runs: s.Deps.Changes.Actions,
		Outcomes: s.Deps.Changes.Outcomes, History: s.Deps.Past.History, NoHistory: s.KeepsHistory(v)}, from, to)
}

// PostmortemPage shows it, to be read and printed.
func PostmortemPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	m, err := postmortemOf(s, r)
	if err != nil {
		return err
	}
	return site.WritePage(w, r, http.StatusOK, postmortemPage(s.Shell(r, v, "past", "Post-mortem"), v, m, templates.SentencesOf(v)))
}

// PostmortemMarkdown answers it as Markdown.
func PostmortemMarkdown(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	m, err := postmortemOf(s, r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", site.MediaMarkdown+"; charset=utf-8")
	_, err = w.Write([]byte(postmortem.PostmortemMarkdown(m)))
	return err
}

// markdownURL is the address of a post-mortem as Markdown.
func markdownURL(m api.Postmortem) string {
	return "/postmortem.md?" + url.Values{"from": {answer.AtText(m.From)}, "to": {answer.AtText(m.To)}}.Encode()
}
