package main

import (
	"net/url"

	"shardboard/internal/answer/param"
	"shardboard/internal/answer/trying"
)

// labIDsCmd shows where inserts land. Its flags are the parameters of the API, as text.
type labIDsCmd struct {
	Inserts string `placeholder:"N" help:"New rows, from 100 to 100000; default 10000."`
	Shards  string `placeholder:"N" help:"From 1 to 64; default 16."`
	Hours   string `placeholder:"N" help:"In which they are inserted, from 1 to 8760; default 24."`
	Seed    string `placeholder:"N" help:"Of all that is by chance; default 1."`
	Output  string `short:"o" enum:"table,json,csv" default:"table" help:"table, json or csv."`
}

// Help tells what is shown.
func (labIDsCmd) Help() string {
	return "Needs no server and no cluster. As many rows came before the inserts and were spread over the shards."
}

// Run computes and shows it.
func (c labIDsCmd) Run(e *env) error {
	in := url.Values{}
	for name, value := range map[string]string{"inserts": c.Inserts, "shards": c.Shards, "hours": c.Hours, "seed": c.Seed} {
		in.Set(name, value)
	}
	q, err := param.Read[trying.LabIDsQuery](in)
	if err != nil {
		return err
	}
	a, err := trying.LabIDs(q)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return printJSON(e.stdout, a)
	}
	return writeItems(e, c.Output, a.Items, "kind", "busiestShare", "atOnceShare", "text")
}
