package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/sheet"
)

// printClusters prints what each of several clusters answers. It is an error if none has it.
func (c locateCmd) printClusters(e *env, list *api.List[api.ClusterLocate]) error {
	var err error
	switch {
	case c.JSON || c.Output == "json":
		err = printJSON(e.stdout, list)
	case c.Output == "csv":
		out := sheet.NewWriter(e.stdout, "cluster", "state", "kind", "id", "name", "project", "shards", "answer", "text")
		for _, x := range list.Items {
			for _, f := range x.Found {
				out.Row(x.Name, x.State, f.Kind, f.ID, f.Name, f.Project, strings.Join(f.Shards, " "), f.Answer, x.Text)
			}
			if len(x.Found) == 0 {
				out.Row(x.Name, x.State, "", "", "", "", "", "", x.Text)
			}
		}
		err = out.Close()
	default:
		for _, x := range list.Items {
			printCluster(e, x)
		}
	}
	has := func(state string) bool {
		return slices.ContainsFunc(list.Items, func(x api.ClusterLocate) bool { return x.State == state })
	}
	switch {
	case err != nil || has("found"):
		return err
	case has("unreachable"):
		return fault.New(fault.Unavailable, "No cluster that answers has it, and not every cluster answers.")
	case has("invalid"):
		return fault.New(fault.Invalid, "No cluster can look for it.")
	}
	return fault.New(fault.NotFound, "None of these clusters has it.")
}

// printCluster prints a title, then what was found or why nothing was.
func printCluster(e *env, x api.ClusterLocate) {
	title := "cluster " + x.Name
	if x.Title != x.Name {
		title += "  " + x.Title
	}
	fmt.Fprintln(e.stdout, sanitize.Line(title))
	for _, f := range x.Found {
		thing := f.Kind + " " + cmp.Or(f.ID, f.Name)
		if f.ID != "" && f.Name != "" && f.Name != f.ID {
			thing += "  " + f.Name
		}
		if f.Kind != "project" && f.Project != "" {
			thing += "  (" + f.Project + ")"
		}
		fmt.Fprintln(e.stdout, "  "+clean(thing))
		if f.Answer != "" {
			fmt.Fprintln(e.stdout, "  "+clean(f.Answer))
		}
	}
	if x.Text != "" {
		fmt.Fprintln(e.stdout, "  "+clean(x.Text))
	}
	if x.AsOf != nil {
		if text := staleText(*x.AsOf, x.Stale, time.Now()); text != "" {
			fmt.Fprintln(e.stdout, "  "+text)
		}
	}
}
