package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// PartState says what is wrong with one part of the table; the zero State when
// it was read without errors and recently.
func PartState(v View, p topology.Part) api.State {
	h := v.Table.Health[p]
	if s := NotReached(v.Table); s.Code != "" {
		switch {
		case p == topology.PartRouting:
			return s
		case h.At.IsZero() && h.Err == nil:
			return api.State{Code: s.Code, Title: p.Name() + ": not read", Detail: ConnectionTitles[ConnectionState(v.Table)] + "."}
		}
	}
	if s := v.Table.Saved; h.Err == nil && !s.IsZero() && h.At.Equal(s) {
		return api.State{Code: "stale", Title: p.Name() + ": as of " + FullInstant(s),
			Detail: "It was saved then, and is being compared with the cluster."}
	}
	return healthState(v, p, h, !h.At.IsZero(), v.Table.Stale(p, v.Now))
}

// ProjectsState is PartState for the list of projects.
func ProjectsState(v View) api.State {
	h := v.Dir.Health()
	if s := NotReached(v.Table); s.Code != "" && !v.Dir.Loaded() && v.Past == nil {
		return s
	}
	if v.Past != nil && !v.Past.Reached && !v.Dir.Loaded() {
		return api.State{Code: "failed", Title: v.Profile.TenantWords().Many + ": not recorded",
			Detail: "Their list is read from the cluster, which has not been reached since the start of shardboard, and none is stored."}
	}
	return healthState(v, "projects", h, v.Dir.Loaded(), h.Err != nil)
}

func healthState(v View, p topology.Part, h topology.Health, read, stale bool) api.State {
	name := v.Profile.Words(p.Name())
	switch {
	case h.Denied && h.Product != "":
		return api.State{Code: "denied", Title: name + ": not possible on " + h.Product,
			Detail: h.Product + " refuses this to every user; no grant helps. Everything else keeps working."}
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
