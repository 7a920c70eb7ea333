package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"shardboard/internal/api"
	"shardboard/internal/app"
)

type locateCmd struct {
	clusterFlags `embed:""`
	Query        string `arg:"" optional:"" help:"project/document key, a project's name, id or public key, or an id."`
	NS           string `name:"ns" help:"Collection of --key: database.collection."`
	Key          string `help:"Shard-key value as Extended JSON, with --ns."`
	JSON         bool   `name:"json" help:"Print the API's JSON."`
}

const locateTimeout = time.Minute

func (c locateCmd) Run(e *env) error {
	config, err := c.config(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, locateTimeout)
	defer cancel()
	found, err := app.Locate(ctx, config, app.Question{Text: c.Query, NS: c.NS, Key: c.Key})
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(found)
	}
	return printItems(e.stdout, found.Items)
}

// printItems writes one block per item: what it is, then a line per collection.
func printItems(w io.Writer, items []api.LocateItem) error {
	for i, it := range items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		title := it.Kind + " " + it.ID
		if it.Name != "" {
			title += "  " + it.Name
		}
		if it.ProjectName != "" && it.Kind != "project" {
			title += "  (project " + it.ProjectName + ")"
		}
		if it.Removed {
			title += "  removed"
		}
		fmt.Fprintln(w, plain(title))
		tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
		for _, p := range it.Places {
			fmt.Fprintln(tab, plain(placeLine(p)))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// placeLine is collection, shard and why, separated by tabs.
func placeLine(p api.Place) string {
	where := strings.Join(p.Shards, ", ")
	switch {
	case p.State == "absent":
		where = "-"
	case where == "":
		where = "unknown"
	case !p.Exact:
		where = "any of " + where
	}
	why := "unsharded: the database's primary shard"
	switch {
	case p.State == "absent":
		why = "no such collection"
	case p.Sharded && len(p.Min) > 0 && string(p.Min) != "null":
		why = fmt.Sprintf("chunk [%s, %s)", p.Min, p.Max)
		if p.Hash != nil {
			why = "hash " + *p.Hash + " in " + why
		}
	case p.Sharded:
		why = fmt.Sprintf("%d chunks can hold it", p.Chunks)
	}
	return "  " + p.NS + "\t" + where + "\t" + why
}

// plain makes text from a cluster safe for a terminal: control and
// direction-changing characters are shown as escapes, tabs of ours stay.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
