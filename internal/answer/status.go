package answer

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Status says how old the routing data is and what is wrong; of the past, only the time.
func Status(v View) api.Status {
	if v.Past != nil {
		return api.Status{Level: "past", Text: "as of " + FullInstant(v.Past.At), At: v.Past.At}
	}
	h := v.Table.Health[topology.PartRouting]
	s := api.Status{Level: "ok", At: h.At}
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
		s.Text = fmt.Sprintf("Live, data %s old, %d commands/min", age, v.Cost)
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
	// Notes are left to the pages: the status is for what somebody has to act on.
	switch found := v.Problems().Summary(); found.Worst() {
	case rules.Critical, rules.Warn:
		s.Level = string(found.Worst())
		found.Info = 0
		s.Text += " · " + problemCounts(found)
	}
	return s
}

// PartState says what is wrong with one part of the table; the zero State when
// it was read without errors and recently.
func PartState(v View, p topology.Part) api.State {
	h := v.Table.Health[p]
	return healthState(p, h, !h.At.IsZero(), v.Table.Stale(p, v.Now))
}

// ProjectsState is PartState for the list of projects.
func ProjectsState(v View) api.State {
	h := v.Dir.Health()
	return healthState("projects", h, v.Dir.Loaded(), h.Err != nil)
}

func healthState(p topology.Part, h topology.Health, read, stale bool) api.State {
	name := p.Name()
	switch {
	case h.Denied:
		return api.State{Code: "denied", Title: name + ": not permitted",
			Detail: "Grant the cluster user " + h.Privilege + ". Everything else keeps working."}
	case !read && h.Err != nil:
		return api.State{Code: "failed", Title: name + ": could not be read", Detail: fault.Text(h.Err)}
	case !read:
		return api.State{Code: "loading", Title: name + ": not read yet",
			Detail: "The first read is under way; this fills in by itself."}
	case stale:
		out := api.State{Code: "stale", Title: name + ": last read at " + format.Clock(h.At),
			Detail: "Later reads have not returned yet; this is the state at that time."}
		if h.Err != nil {
			out.Detail = fault.Text(h.Err)
		}
		return out
	case h.Note != "":
		return api.State{Code: "partial", Title: name + ": some rows are left out", Detail: sanitize.Sentence(h.Note)}
	}
	return api.State{}
}
