package main

import (
	"cmp"
	"io"

	"shardboard/internal/api"
)

// printOutcome writes whether a run helped. It writes nothing for a running or unchanged run, or
// when the server has no outcome.
func printOutcome(w io.Writer, o *api.RunOutcome) {
	if o == nil || o.State == "running" || o.State == "unchanged" {
		return
	}
	line(w, "  did it help? %s. %s", cmp.Or(o.Verdict, o.State), o.Text)
	for _, n := range o.Notes {
		line(w, "       %s", n.Text)
	}
}
