package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/sanitize"
)

type doctorCmd struct {
	clusterFlags `embed:""`
	Database     []string `help:"Database that holds projects; can be given several times. Default: those found in the routing table."`
	Actions      string   `default:"off" enum:"off,on" help:"on: also require the privileges that only changes of the cluster need."`
	JSON         bool     `name:"json" help:"Print the report as JSON."`
}

const doctorTimeout = 2 * time.Minute

// doctorFailed is returned when the doctor found a problem: the exit code is 1.
type doctorFailed struct{ lacking, unknown int }

func (u doctorFailed) Error() string {
	return fmt.Sprintf("%d missing, %d not known; docs/roles.md has sufficient roles", u.lacking, u.unknown)
}

func (c doctorCmd) Run(e *env) error {
	config, err := c.config(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, doctorTimeout)
	defer cancel()
	report, err := app.Doctor(ctx, config, app.DoctorOptions{Databases: c.Database, Actions: c.Actions == "on"})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e.stdout, report)
	} else {
		err = printReport(e.stdout, report)
	}
	if err == nil && !report.OK {
		err = countProblems(report)
	}
	return err
}

// countProblems counts what makes the report fail.
func countProblems(r api.DoctorReport) (u doctorFailed) {
	count := func(state string) {
		switch state {
		case "lacks":
			u.lacking++
		case "unknown":
			u.unknown++
		}
	}
	for _, c := range r.Checks {
		count(c.State)
	}
	for _, f := range r.Features {
		if !f.Change || r.Actions {
			count(f.State)
		}
	}
	return u
}

// printReport writes the checks, the features that read, those that change the cluster, and the
// commands to type.
func printReport(w io.Writer, r api.DoctorReport) error {
	title := r.Target
	if len(r.Users) > 0 {
		title += " as " + strings.Join(r.Users, ", ")
	}
	fmt.Fprintln(w, sanitize.Line(title))
	tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	for _, c := range r.Checks {
		row(tab, c.State, checkName(c.Code), checkText(c))
	}
	for _, changes := range []bool{false, true} {
		if len(r.Features) == 0 {
			break
		}
		head := "\nfeatures that only read"
		if changes {
			head = "\nfeatures that change the cluster, with --actions=on"
		}
		fmt.Fprintln(tab, head)
		for _, f := range r.Features {
			if f.Change == changes {
				featureRow(tab, f)
			}
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if len(r.Remedies) > 0 {
		fmt.Fprintln(w, "\nTo grant the missing privileges with the roles of docs/roles.md, type in mongosh:")
		for _, command := range r.Remedies {
			fmt.Fprintln(w, "  "+sanitize.Line(command))
		}
		fmt.Fprintln(w, "Then run the doctor again, because a newly granted role may lack privileges too.")
	}
	return nil
}

func featureRow(w io.Writer, f api.DoctorFeature) {
	name := f.Code
	if f.Database != "" {
		name += " in " + f.Database
	}
	switch f.State {
	case "lacks":
		row(w, "lacks", name, groupByAction(f.Lacks)+". "+withoutFeature[f.Code])
	case "unknown":
		row(w, "unknown", name, groupByAction(f.Unknown)+": the cluster did not say. Without it: "+withoutFeature[f.Code])
	default:
		row(w, f.State, name, "")
	}
}

// groupByAction groups privileges by action: "find on a, b; update on c".
func groupByAction(privileges []string) string {
	var actions []string
	on := map[string][]string{}
	for _, p := range privileges {
		action, what, _ := strings.Cut(p, " on ")
		if on[action] == nil {
			actions = append(actions, action)
		}
		on[action] = append(on[action], what)
	}
	for i, a := range actions {
		actions[i] = a + " on " + strings.Join(on[a], ", ")
	}
	return strings.Join(actions, "; ")
}

// row writes one line of the table; the cells are untrusted text.
func row(w io.Writer, state, name, text string) {
	fmt.Fprintln(w, "  "+sanitize.Line(state)+"\t"+sanitize.Line(name)+"\t"+sanitize.Line(text))
}
