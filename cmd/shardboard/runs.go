package main

import (
	"fmt"
	"text/tabwriter"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
)

type runsCmd struct {
	List runsListCmd `cmd:"" default:"withargs" help:"List the newest runs."`
	Show runsShowCmd `cmd:"" help:"Show one run: its steps, their proof, and what went wrong."`
	Stop runsStopCmd `cmd:"" help:"Stop a run before its next command; a command in flight continues."`
	Undo runsUndoCmd `cmd:"" help:"Plan the inverse of a run; changes nothing until that plan is run."`

	Pause  runsPauseCmd  `cmd:"" help:"Pause a batch: no further item begins, and those that run go on to their end."`
	Resume runsResumeCmd `cmd:"" help:"Let a paused batch go on, or decide about an item that has failed."`
	Items  runsItemsCmd  `cmd:"" help:"List the items of a batch."`
	Finish runsFinishCmd `cmd:"" help:"Plan what is left of a run that ended early; changes nothing until that plan is run."`
}

type runsListCmd struct {
	remoteFlags `embed:""`
	Limit       int  `default:"20" help:"Number of runs, at most 1000."`
	JSON        bool `name:"json" help:"Print the API's JSON."`
}

func (c runsListCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	list, err := remote.Runs(e.ctx, c.Limit)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e.stdout, list)
	}
	tab := tabwriter.NewWriter(e.stdout, 2, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "RUN\tSTARTED\tSTATE\tBY\tWHAT")
	for _, r := range list.Items {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", clean(r.ID), timeText(r.StartedAt, "-"), clean(engine.State(r.State).Label()),
			clean(changing.RunBy(r)), clean(r.Summary.String()))
	}
	return tab.Flush()
}

// runFlags select one run.
type runFlags struct {
	remoteFlags `embed:""`
	ID          string `arg:"" help:"Id of the run."`
	JSON        bool   `name:"json" help:"Print the API's JSON."`
}

type runsShowCmd struct {
	runFlags `embed:""`
	Wait     bool `help:"Follow it until it ends; exit codes as of run --wait."`
}

func (c runsShowCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	run, err := remote.Run(e.ctx, c.ID)
	if err != nil {
		return err
	}
	f := follower{env: e, remote: remote, json: c.JSON}
	if c.Wait {
		return f.follow(run)
	}
	return f.show(run)
}

type runsStopCmd struct {
	runFlags `embed:""`
}

func (c runsStopCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	run, err := remote.StopRun(e.ctx, c.ID)
	if err != nil {
		return err
	}
	f := follower{env: e, json: c.JSON}
	if err := f.show(run); err != nil || c.JSON || run.Open {
		return err
	}
	_, err = fmt.Fprintln(e.stdout, "The run has already ended; there is nothing to stop.")
	return err
}

type runsUndoCmd struct {
	runFlags `embed:""`
	Reason   string `help:"Reason; by default it names the run that is undone."`
}

func (c runsUndoCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	p, err := remote.UndoRun(e.ctx, c.ID, c.Reason)
	if err != nil {
		return printDetails(e, err)
	}
	return showPlan(e, p, c.JSON)
}

type runsFinishCmd struct {
	runFlags `embed:""`
	Reason   string `help:"Reason; by default it names the run that is finished."`
}

func (c runsFinishCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	p, err := remote.FinishRun(e.ctx, c.ID, c.Reason)
	if err != nil {
		return printDetails(e, err)
	}
	return showPlan(e, p, c.JSON)
}
