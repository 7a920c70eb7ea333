package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
)

type runCmd struct {
	remoteFlags `embed:""`
	Plan        string `arg:"" help:"Id of the plan."`
	Hash        string `placeholder:"HASH" help:"Hash of the plan as it was shown; without it the plan is shown and you are asked to confirm it."`
	Confirm     string `placeholder:"TEXT" help:"Confirmation text, where the plan requires one; without it you are asked in a terminal."`
	Wait        bool   `help:"Follow the run until it ends; exits with 0 when it succeeded, 4 when refused or stopped, 7 when its outcome is unknown, 1 when it failed."`
	JSON        bool   `name:"json" help:"Print the run as the API's JSON."`
}

// Run starts a plan after confirmation by the person at the terminal; it never confirms by itself.
func (c runCmd) Run(e *env) error {
	remote, err := c.remote()
	if err != nil {
		return err
	}
	p, err := remote.Plan(e.ctx, c.Plan)
	if err != nil {
		return err
	}
	var ask func() (string, error)
	if term.IsTerminal(int(os.Stdin.Fd())) {
		ask = firstLine(os.Stdin)
	}
	in, err := c.confirmed(e, p, ask)
	if err != nil {
		return err
	}
	run, err := remote.RunPlan(e.ctx, p.ID, in)
	switch {
	case errors.Is(err, app.ErrNoAnswer):
		return fault.Wrap(
			fault.UnknownOutcome,
			err,
			"The server did not answer, so it is not known whether the plan %s is running. Repeat the command: a plan never runs twice.",
			p.ID,
		)
	case err != nil:
		return printDetails(e, err)
	}
	f := follower{env: e, remote: remote, json: c.JSON}
	if c.Wait {
		return f.follow(run)
	}
	return f.show(run)
}

// confirmed returns the confirmation from the flags or the terminal. ask is nil without a terminal.
func (c runCmd) confirmed(e *env, p api.Plan, ask func() (string, error)) (api.PlanRun, error) {
	in := api.PlanRun{Hash: c.Hash}
	if c.Confirm != "" {
		in.Confirm = &c.Confirm
	}
	typed := p.Confirm == nil || in.Confirm != nil
	if in.Hash != "" && (typed || ask == nil) {
		return in, nil // the server reports what is missing and records it
	}
	if ask == nil {
		return in, fault.New(fault.Invalid, "There is no terminal to ask for confirmation: give the plan's --hash, as it was shown.")
	}
	if err := printPlan(e.stderr, p); err != nil {
		return in, err
	}
	want, prompt := "yes", "Run this plan? Type yes: "
	if !typed {
		want, prompt = *p.Confirm, "Type the confirmation: "
	}
	fmt.Fprint(e.stderr, prompt)
	answer, err := answered(e.ctx, ask)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(e.stderr)
		return in, fault.Wrap(fault.Conflict, err, "Nothing was started.")
	case err != nil:
		return in, fault.Wrap(fault.Invalid, err, "The answer cannot be read. Nothing was started.")
	}
	if !typed {
		in.Confirm = &answer // the server checks it and records a wrong one
	} else if answer != want {
		return in, fault.New(fault.Conflict, "Not confirmed. Nothing was started.")
	}
	if in.Hash == "" {
		in.Hash = p.Hash // the plan was shown just now
	}
	return in, nil
}

func firstLine(from io.Reader) func() (string, error) {
	return func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(from, 1<<12)).ReadString('\n')
		if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
			return "", err
		}
		return strings.TrimRight(text, "\r\n"), nil
	}
}

// printDetails prints the details of an error answer.
func printDetails(e *env, err error) error {
	var refused *app.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	for _, d := range refused.Problem.Changed {
		line(e.stderr, "changed  %s", d.Text.String())
	}
	for _, c := range refused.Problem.Checks {
		printCheck(e.stderr, c)
	}
	return err
}
