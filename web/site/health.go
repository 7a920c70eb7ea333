package site

import (
	"cmp"
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/static"
)

// Healthz answers as soon as requests are served at all.
func Healthz(s *Site, w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte("ok\n"))
	return err
}

// readyz answers 200 once there is something to show: table and projects, the saved table, or why the
// cluster is not reached. A cluster that is down is no reason to send people away from the
// history of it. It answers 503 before, and while what is stored is not kept. With
// ?cluster=required a cluster that is not reached, or not read yet, is a 503 too, for scripts that need it.
func readyz(s *Site, w http.ResponseWriter, r *http.Request) error {
	out := s.readyToShow(r.URL.Query().Get("cluster") == "required")
	if out.Reason != "" && s.Deps.Access.Exposed {
		out.Reason = "The data is not loaded yet." // the cause may name hosts, and anybody may ask
		if out.Ready {
			out.Reason = "The cluster is not reached; what is stored is shown."
		}
	}
	if text := s.Deps.Store.Memory.State().Text(); text != "" && out.Reason == "" {
		out.Reason = text // it goes on serving what it has
	}
	t := s.Deps.Store.troubleNow()
	switch c := s.Deps.Store.Condition(); {
	case c.Lost():
		out.Ready, out.Reason = false, fault.Text(c.Err) // names no path, so anybody may read it
	case t != nil && t.Lasting():
		out.Ready, out.Reason = false, t.Title()+". The log has the cause." // which names a path
	}
	if out.Ready {
		return WriteJSON(w, http.StatusOK, out)
	}
	w.Header().Set("Retry-After", "1")
	return WriteJSON(w, http.StatusServiceUnavailable, out)
}

// readyToShow is what pages have to show. On a server of several clusters each was read, or tried.
func (s *Site) readyToShow(required bool) api.Ready {
	if !s.ofCluster() {
		if title := s.unsettled(); title != "" {
			return api.Ready{Reason: "The cluster " + title + " is being read for the first time."}
		}
		return api.Ready{Ready: true}
	}
	v := s.View()
	out := api.Ready{Cluster: answer.ConnectionState(v.Table), Ready: true, Reason: notReady(v)}
	switch {
	case out.Cluster == "otherCluster": // the table is of the one that is watched
		out.Ready, out.Reason = !required, answer.ConnectionOf(v).Reason
	case !v.Table.Saved.IsZero(): // there is something to show, but nothing to rely on
		out.Ready, out.Reason = !required, cmp.Or(answer.ConnectionOf(v).Reason, problems.Status(v).Text+".")
	case !v.Table.Loaded:
		out.Ready = !required && triedInVain(v.Table)
	case out.Reason != "": // pages say why there are no projects; a right that is missing does not come by itself
		h := v.Dir.Health()
		out.Ready = h.Denied || !required && h.Err != nil
	default: // read before, and perhaps not now
		out.Reason = answer.ConnectionOf(v).Reason
	}
	return out
}

// triedInVain tells whether the first attempt to read the cluster has failed.
func triedInVain(t *topology.Table) bool {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases} {
		if h := t.Health[p]; h.At.IsZero() && h.Err != nil {
			return true
		}
	}
	return false
}

// notReady says what of the cluster is missing; "" when nothing is.
func notReady(v answer.View) string {
	switch {
	case !v.Table.Loaded:
		for _, p := range problems.AllParts {
			if err := v.Table.Health[p].Err; err != nil {
				return "The routing table is not loaded yet: " + fault.Brief(err)
			}
		}
		return "The routing table is not loaded yet."
	case !v.Dir.Loaded():
		if err := v.Dir.Health().Err; err != nil {
			return v.Profile.Words("The projects are not loaded yet: ") + fault.Brief(err)
		}
		return v.Profile.Words("The projects are not loaded yet.")
	}
	return ""
}

// serveStatic answers embedded files. Their addresses contain a hash of the
// content, so they may be kept for ever.
func serveStatic(s *Site, w http.ResponseWriter, r *http.Request) error {
	if !static.Known(r.URL.Path) {
		return fault.New(fault.NotFound, "There is no such file in this build.")
	}
	static.Handler().ServeHTTP(w, r)
	return nil
}
