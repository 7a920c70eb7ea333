package parts

import (
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// statusView is the live dot: how old the routing data is and what is wrong.
func StatusView(v answer.View) templates.Status {
	h := v.Table.Health[topology.PartRouting]
	s := templates.Status{Level: "ok", At: h.At}
	age := format.Span(v.Now.Sub(h.At))
	switch {
	case h.At.IsZero() && h.Denied:
		s.Level, s.Text = "failed", words.T("status.denied")
	case h.At.IsZero() && h.Err != nil:
		s.Level, s.Text = "failed", words.T("status.unreached")
	case !v.Table.Loaded:
		s.Level, s.Text = "loading", words.T("status.loading")
	case h.Err != nil:
		s.Level, s.Text = "failed", words.T("status.lost", "age", age)
	case v.Table.Stale(topology.PartRouting, v.Now):
		s.Level, s.Text = "stale", words.T("status.stale", "age", age)
	case v.Cost > 0:
		s.Text = words.T("status.ok.cost", "age", age, "n", strconv.Itoa(v.Cost))
	default:
		s.Text = words.T("status.ok", "age", age)
	}
	switch { // pages that are open have their banner only when they are read again
	case v.Data.Lost():
		s.Level, s.Text = "failed", words.T("status.vanished")
	case v.Trouble != "":
		s.Level, s.Text = "failed", v.Trouble
	case v.Data.Hold == store.OwnerGone:
		s.Level, s.Text = "failed", words.T("status.ownerGone")
	}
	if s.Level != "ok" {
		return s // how old the data is comes first
	}
	// Notes are left to the pages: the dot is for what somebody has to act on.
	switch found := v.Problems().Summary(); found.Worst() {
	case rules.Critical, rules.Warn:
		s.Level = string(found.Worst())
		found.Info = 0
		s.Text = words.T("status.problems", "status", s.Text, "problems", answer.ProblemCounts(found))
	}
	return s
}

// partState says what is wrong with one part of the table; the zero State when
// it was read well and recently.
func PartState(v answer.View, p topology.Part) templates.State {
	h := v.Table.Health[p]
	name := p.Name()
	switch {
	case h.Denied:
		return templates.State{Code: "denied", Title: words.T("state.denied", "part", name),
			Detail: words.T("state.denied.advice", "privilege", h.Privilege)}
	case h.At.IsZero() && h.Err != nil:
		return templates.State{Code: "failed", Title: words.T("state.failed", "part", name), Detail: fault.Text(h.Err)}
	case h.At.IsZero():
		return templates.State{Code: "loading", Title: words.T("state.loading", "part", name), Detail: words.T("state.loading.advice")}
	case v.Table.Stale(p, v.Now):
		detail := words.T("state.stale.late")
		if h.Err != nil {
			detail = fault.Text(h.Err)
		}
		return templates.State{Code: "stale", Title: words.T("state.stale", "part", name, "at", format.Clock(h.At)), Detail: detail}
	case h.Note != "":
		return templates.State{Code: "partial", Title: words.T("state.partial", "part", name), Detail: sanitize.Sentence(h.Note)}
	}
	return templates.State{}
}

// projectsState is partState for the list of projects.
func ProjectsState(v answer.View) templates.State {
	h, name := v.Dir.Health(), topology.Part("projects").Name()
	switch {
	case h.Denied:
		return templates.State{Code: "denied", Title: words.T("state.denied", "part", name),
			Detail: words.T("state.denied.advice", "privilege", h.Privilege)}
	case !v.Dir.Loaded() && h.Err != nil:
		return templates.State{Code: "failed", Title: words.T("state.failed", "part", name), Detail: fault.Text(h.Err)}
	case !v.Dir.Loaded():
		return templates.State{Code: "loading", Title: words.T("state.loading", "part", name), Detail: words.T("state.loading.advice")}
	case h.Err != nil:
		return templates.State{Code: "stale", Title: words.T("state.stale", "part", name, "at", format.Clock(h.At)), Detail: fault.Text(h.Err)}
	case h.Note != "":
		return templates.State{Code: "partial", Title: words.T("state.partial", "part", name), Detail: h.Note}
	}
	return templates.State{}
}

func ErrorView(k fault.Kind, text string) templates.ErrorModel {
	return templates.ErrorModel{Status: k.HTTPStatus(), Title: answer.ErrorTitle(k), Text: text, Advice: words.T("error.advice." + answer.KindCode(k))}
}
