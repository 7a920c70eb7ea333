package problems

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Status says how old the routing data is and what is wrong; of the past, only the time.
func Status(v answer.View) api.Status {
	if v.Past != nil {
		return api.Status{Level: "past", Text: "as of " + answer.FullInstant(v.Past.At), At: v.Past.At}
	}
	h := v.Table.Health[topology.PartRouting]
	s := api.Status{Level: "ok", At: h.At}
	age := format.Span(v.Now.Sub(h.At))
	silent := answer.Silence(v.Table, answer.AnyShard)
	switch state := answer.ConnectionState(v.Table); {
	case state == "otherCluster":
		s.Level, s.Text = "failed", "Another cluster answers, data "+age+" old"
	case !v.Table.IsRead() && state == "denied":
		s.Level, s.Text = "failed", "Not permitted to read the routing table"
	case h.At.IsZero() && state == "refused":
		s.Level, s.Text = "failed", "Cluster refuses the sign-in"
	case h.At.IsZero() && state == "notMongos":
		s.Level, s.Text = "failed", "No mongos at the address"
	case h.At.IsZero() && h.Err != nil:
		s.Level, s.Text = "failed", "Cluster not reached yet"
	case !v.Table.Loaded:
		s.Level, s.Text = "loading", "Reading the routing table"
	case state == "reading":
		s.Level, s.Text = "stale", "As of "+answer.FullInstant(v.Table.Saved)+", being verified"
	case silent != "":
		s.Level, s.Text = "failed", silent+", data "+age+" old"
	case h.Err != nil:
		s.Level, s.Text = "failed", "Cluster not answering, data "+age+" old"
	case v.Table.Stale(topology.PartRouting, v.Now):
		s.Level, s.Text = "stale", "Data is "+age+" old"
	default:
		s.Text = watched(v.Table) + ", data " + age + " old"
	}
	if text := storeFailure(v); text != "" {
		s.Level, s.Text = "failed", text
	}
	if s.Level != "ok" {
		return s // how old the data is comes first
	}
	// Notes are left to the pages: the status is for what somebody has to act on.
	switch found := Problems(v).Summary(); found.Worst() {
	case rules.Critical, rules.Warn:
		s.Level = string(found.Worst())
		found.Info = 0
		s.Text += " · " + ProblemCounts(found)
	}
	return s
}

// watched says how changes are seen: at once, by the changelog, or by a poll, and then why.
func watched(t *topology.Table) string {
	if t.Following.Live {
		return "Live"
	}
	out := "Every " + format.Span(t.PollEvery(topology.PartRouting))
	switch err := t.Following.Err; {
	case err == nil:
		return out
	case fault.Of(err) == fault.Forbidden:
		return out + " (the changelog is not permitted)"
	case fault.Of(err) == fault.NotFound:
		return out + " (the changelog is empty)"
	}
	return out + " (the changelog could not be followed)"
}

// ServerStatus is the status on pages that are about no cluster.
func ServerStatus(v answer.View) api.Status {
	if text := storeFailure(v); text != "" {
		return api.Status{Level: "failed", Text: text, At: v.Now}
	}
	return api.Status{Level: "ok", Text: "Live", At: v.Now}
}

// storeFailure is why nothing can be stored; "" when it can. Pages that are open have their banner only
// when they are read again, so their status says it too.
func storeFailure(v answer.View) string {
	switch {
	case v.Data.Hold == store.Unreachable:
		return "Nothing can be stored: the store does not answer"
	case v.Data.Lost():
		return "Nothing can be stored: the data directory is lost"
	case v.Trouble != "":
		return v.Trouble
	case v.Data.Hold == store.OwnerGone:
		return "Read only: the owner of the data has stopped"
	}
	return ""
}
