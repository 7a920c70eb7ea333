package engine

import "shardboard/internal/actions/operation"

// LastingChanges counts the changes that the run has left in the cluster so far.
func (r Run) LastingChanges() (out operation.LastingChanges) {
	for _, s := range r.Steps {
		switch {
		case s.State == Unknown:
			out.Unknown++
			continue
		case s.State != Succeeded || !s.Sends() || s.Restores:
			continue
		case s.Already != "":
			out.ByOthers++
			continue
		case s.Pauses:
			continue
		}
		out.Count(s.Step)
	}
	out.Paused = len(r.Pauses()) > 0
	return out
}
