package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
)

type runsPauseCmd struct {
	runFlags `embed:""`
}

func (c runsPauseCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	run, err := remote.PauseRun(e.ctx, c.ID)
	if err != nil {
		return err
	}
	f := follower{env: e, json: c.JSON}
	return f.show(run)
}

type runsResumeCmd struct {
	runFlags `embed:""`
	Retry    int `placeholder:"ITEM" help:"Try this item again, which has failed, instead of resuming the batch."`
	Skip     int `placeholder:"ITEM" help:"Leave this item out, which has failed, instead of resuming the batch."`
}

func (c runsResumeCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	var in api.RunResume
	switch {
	case c.Retry != 0:
		in = api.RunResume{Item: c.Retry, Do: engine.DoRetry}
	case c.Skip != 0:
		in = api.RunResume{Item: c.Skip, Do: engine.DoSkip}
	}
	run, err := remote.ResumeRun(e.ctx, c.ID, in)
	if err != nil {
		return err
	}
	f := follower{env: e, json: c.JSON}
	return f.show(run)
}

type runsItemsCmd struct {
	remoteFlags `embed:""`
	ID          string `arg:"" help:"Id of the run of a batch."`
	Limit       int    `default:"1000" help:"Number of items, at most 1000."`
	JSON        bool   `name:"json" help:"Print the API's JSON."`
}

func (c runsItemsCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	all := api.List[api.BatchItem]{}
	for cursor := ""; ; {
		list, err := remote.BatchItems(e.ctx, c.ID, min(200, c.Limit-len(all.Items)), cursor)
		if err != nil {
			return err
		}
		all.Items, all.Next, all.AsOf = append(all.Items, list.Items...), list.Next, list.AsOf
		if cursor = string(list.Next); cursor == "" || len(all.Items) >= c.Limit {
			break
		}
	}
	if c.JSON {
		return printJSON(e.stdout, all)
	}
	tab := tabwriter.NewWriter(e.stdout, 2, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "ITEM\tGROUP\tSTATE\tRUN\tWHAT")
	for _, x := range all.Items {
		what := x.Summary
		if x.Why != "" {
			what += " " + x.Why
		}
		fmt.Fprintf(tab, "%d\t%d\t%s\t%s\t%s\n", x.Item, x.Group, clean(engine.State(x.State).Label()), clean(x.Run), clean(what))
	}
	return tab.Flush()
}

// printBatch writes how far a batch is, and what needs a person.
func printBatch(w io.Writer, r api.Run) {
	b := r.Batch
	line(w, "  %s.", b.Progress)
	for _, text := range []string{b.Why, b.Waits} {
		if text != "" {
			line(w, "  %s", text)
		}
	}
	for _, t := range b.Problems {
		line(w, "  item %d  %s (tries: %d)  %s", t.Item, t.State, t.Tries, t.Why)
	}
	for _, g := range b.Health {
		line(w, "  Health after group %d of %d: %s", g.Group, b.Groups, healthText(g))
	}
	if b.Rows.Text != "" {
		line(w, "  %s", b.Rows.Text)
	}
	if r.Open && b.Paused {
		line(w, "  Go on: shardboard runs resume %s. An item that waits: --retry ITEM or --skip ITEM.", r.ID)
	}
	line(w, "  Items: shardboard runs items %s.", r.ID)
}

// healthText is what a look at the health of the cluster found, and what is not known.
func healthText(g api.BatchGate) string {
	texts := g.Findings
	if len(texts) == 0 {
		texts = []string{"nothing wrong."}
	}
	return strings.Join(append(slices.Clone(texts), g.Unknown...), " ")
}
