package parts

import (
	"fmt"
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
		s.Level, s.Text = "failed", "Not permitted to read the routing table"
	case h.At.IsZero() && h.Err != nil:
		s.Level, s.Text = "failed", "Cluster not reached yet"
	case !v.Table.Loaded:
		s.Level, s.Text = "loading", "Reading the routing table"
	case h.Err != nil:
		s.Level, s.Text = "failed", "Cluster not answering, data "+age+" old"
	case v.Table.Stale(topology.PartRouting, v.Now):
		s.Level, s.Text = "stale", "Data is "+age+" old"
	case v.Cost > 0:
		s.Text = fmt.Sprintf("Live, data %s old, %s commands/min", age, strconv.Itoa(v.Cost))
	default:
		s.Text = "Live, data " + age + " old"
	}
	switch { // pages that are open have their banner only when they are read again
	case v.Data.Lost():
		s.Level, s.Text = "failed", "Nothing can be stored: the data directory is lost"
	case v.Trouble != "":
		s.Level, s.Text = "failed", v.Trouble
	case v.Data.Hold == store.OwnerGone:
		s.Level, s.Text = "failed", "Read only: the owner of the data has stopped"
	}
	if s.Level != "ok" {
		return s // how old the data is comes first
	}
	// Notes are left to the pages: the dot is for what somebody has to act on.
	switch found := v.Problems().Summary(); found.Worst() {
	case rules.Critical, rules.Warn:
		s.Level = string(found.Worst())
		found.Info = 0
		s.Text = fmt.Sprintf("%s · %s", s.Text, answer.ProblemCounts(found))
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
		return templates.State{Code: "denied", Title: name + ": not permitted",
			Detail: "Grant the cluster user " + h.Privilege + ". Everything else keeps working."}
	case h.At.IsZero() && h.Err != nil:
		return templates.State{Code: "failed", Title: name + ": could not be read", Detail: fault.Text(h.Err)}
	case h.At.IsZero():
		return templates.State{Code: "loading", Title: name + ": not read yet", Detail: "The first read is under way; this fills in by itself."}
	case v.Table.Stale(p, v.Now):
		detail := "Later reads have not come back yet; what is shown is from then."
		if h.Err != nil {
			detail = fault.Text(h.Err)
		}
		return templates.State{Code: "stale", Title: fmt.Sprintf("%s: last read at %s", name, format.Clock(h.At)), Detail: detail}
	case h.Note != "":
		return templates.State{Code: "partial", Title: name + ": some rows are left out", Detail: sanitize.Sentence(h.Note)}
	}
	return templates.State{}
}

// projectsState is partState for the list of projects.
func ProjectsState(v answer.View) templates.State {
	h, name := v.Dir.Health(), topology.Part("projects").Name()
	switch {
	case h.Denied:
		return templates.State{Code: "denied", Title: name + ": not permitted",
			Detail: "Grant the cluster user " + h.Privilege + ". Everything else keeps working."}
	case !v.Dir.Loaded() && h.Err != nil:
		return templates.State{Code: "failed", Title: name + ": could not be read", Detail: fault.Text(h.Err)}
	case !v.Dir.Loaded():
		return templates.State{Code: "loading", Title: name + ": not read yet", Detail: "The first read is under way; this fills in by itself."}
	case h.Err != nil:
		return templates.State{Code: "stale", Title: fmt.Sprintf("%s: last read at %s", name, format.Clock(h.At)), Detail: fault.Text(h.Err)}
	case h.Note != "":
		return templates.State{Code: "partial", Title: name + ": some rows are left out", Detail: h.Note}
	}
	return templates.State{}
}

func ErrorView(k fault.Kind, text string) templates.ErrorModel {
	return templates.ErrorModel{Status: k.HTTPStatus(), Title: answer.ErrorTitle(k), Text: text, Advice: words.T("error.advice." + answer.KindCode(k))}
}
