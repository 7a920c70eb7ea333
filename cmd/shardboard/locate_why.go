package main

import (
	"fmt"
	"io"

	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// whyFlags request details beyond the locations.
type whyFlags struct {
	Why    bool `help:"Also show why: the chain from the value to the machines, and a sentence for a ticket."`
	Prove  bool `help:"Also compare with the mongos's own explain."`
	Counts bool `help:"Also count the rows of each place, by one query of at most two seconds each."`
}

// printWhy writes the requested details below the locations.
func printWhy(w io.Writer, places []api.Place) {
	for _, p := range places {
		if p.Why == nil && p.Proof == nil && p.Rows == nil {
			continue
		}
		fmt.Fprintln(w, sanitize.Line("  "+p.NS+":"))
		if p.Why != nil {
			for _, s := range p.Why.Steps {
				fmt.Fprintln(w, sanitize.Line(fmt.Sprintf("    %-8s %s", s.Step, s.Text.String())))
			}
			fmt.Fprintln(w, sanitize.Line("    ticket   "+p.Sentence))
		}
		if p.Proof != nil {
			fmt.Fprintln(w, sanitize.Line("    proof    "+p.Proof.Text))
		}
		if p.Rows != nil {
			fmt.Fprintln(w, sanitize.Line("    rows     "+rowsText(*p.Rows)))
		}
	}
}

func rowsText(f api.Figure) string {
	if f.Value != nil {
		return fmt.Sprint(*f.Value)
	}
	switch f.Reason {
	case "notTargeted":
		return "not counted: the shard key is not known, so counting would ask every shard"
	case "notCountable":
		return "not counted: there is no value to count by"
	case "tooSlow":
		return "not counted: it took longer than two seconds"
	case "notPermitted":
		return "not counted: the cluster user is not permitted to read the collection"
	}
	return "not counted: " + f.Reason
}
