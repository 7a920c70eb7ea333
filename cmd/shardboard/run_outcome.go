package main

import (
	"cmp"
	"io"

	"shardboard/internal/api"
)

// printOutcome writes whether a run helped: nothing while it runs, nor of one that
// changed nothing, nor where the server does not tell.
func printOutcome(w io.Writer, o *api.RunOutcome) {
	if o == nil || o.State == "running" || o.State == "unchanged" {
		return
	}
	line(w, "  did it help? %s. %s", cmp.Or(o.Verdict, o.State), o.Text)
	for _, n := range o.Notes {
		line(w, "       %s", n.Text)
	}
}
