package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/fault"
)

type approveCmd struct {
	remoteFlags `embed:""`
	Plan        string `arg:"" help:"Id of the plan."`
	Hash        string `placeholder:"HASH" help:"Hash of the plan as it was shown; without it the plan is shown and you are asked."`
	JSON        bool   `name:"json" help:"Print the plan as the API's JSON."`
}

// Run approves a plan of somebody else.
func (c approveCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	in := api.PlanApprove{Hash: c.Hash}
	if in.Hash == "" {
		p, err := remote.Plan(e.ctx, c.Plan)
		if err != nil {
			return err
		}
		var ask func() (string, error)
		if term.IsTerminal(int(os.Stdin.Fd())) {
			ask = firstLine(os.Stdin)
		}
		if err := askToApprove(e, p, ask); err != nil {
			return err
		}
		in.Hash = p.Hash // it was shown just now
	}
	p, err := remote.ApprovePlan(e.ctx, c.Plan, in)
	if err != nil {
		return printDetails(e, err)
	}
	return showApproval(e, p, c.JSON)
}

// askToApprove shows a plan and asks whether to approve it. ask is nil without a terminal.
func askToApprove(e *env, p api.Plan, ask func() (string, error)) error {
	if ask == nil {
		return fault.New(fault.Invalid, "There is no terminal to ask for confirmation: give the plan's --hash, as it was shown.")
	}
	if err := printPlan(e.stderr, p); err != nil {
		return err
	}
	fmt.Fprint(e.stderr, "Approve this plan? Type yes: ")
	text, err := answered(e.ctx, ask)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(e.stderr)
		return fault.Wrap(fault.Conflict, err, "Nothing was approved.")
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "The answer cannot be read. Nothing was approved.")
	case text != "yes":
		return fault.New(fault.Conflict, "Not confirmed. Nothing was approved.")
	}
	return nil
}

type refuseCmd struct {
	remoteFlags `embed:""`
	Plan        string `arg:"" help:"Id of the plan."`
	Reason      string `required:"" help:"Reason, for the plan's maker and the audit record."`
	JSON        bool   `name:"json" help:"Print the plan as the API's JSON."`
}

// Run refuses a plan that waits for approval, or takes an approval back.
func (c refuseCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	p, err := remote.RefusePlan(e.ctx, c.Plan, c.Reason)
	if err != nil {
		return printDetails(e, err)
	}
	return showApproval(e, p, c.JSON)
}

func showApproval(e *env, p api.Plan, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, p)
	}
	_, err := fmt.Fprintln(e.stdout, clean(changing.ApprovalText(p.Approval)))
	return err
}

// printApproval says whether a plan needs approval, why, and how far it is.
func printApproval(w io.Writer, a api.PlanApproval) {
	if a.State == "" || !a.Needed && a.Covered.String() == "" {
		return
	}
	line(w, "\nApproval")
	line(w, "  %s", changing.ApprovalText(a))
	for _, text := range a.Because {
		line(w, "  %s", text)
	}
}
