package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/sheet"
)

type locateCmd struct {
	sourceFlags `embed:""`
	Query       string `arg:"" optional:"" help:"project/document key, a project's name, id or public key, an id, a line of Yorkie's log, an address of its dashboard, or a UUID."`
	NS          string `name:"ns" help:"Collection of --key: database.collection."`
	Key         string `help:"Shard-key value as Extended JSON, with --ns."`
	Output      string `short:"o" enum:"table,json,csv" default:"table" help:"table; json or csv, as the API writes them."`
	JSON        bool   `name:"json" help:"The same as -o json."`
	whyFlags    `embed:""`
}

const locateTimeout = time.Minute

func (c locateCmd) Run(e *env) error {
	ctx, cancel := context.WithTimeout(e.ctx, locateTimeout)
	defer cancel()
	found, words, err := c.find(ctx, e)
	if err != nil {
		return err
	}
	if found.clusters != nil {
		return c.printClusters(e, found.clusters)
	}
	switch {
	case c.JSON || c.Output == "json":
		err = printJSON(e.stdout, found.LocateAnswer)
	case c.Output == "csv":
		out := sheet.NewWriter(e.stdout, locating.LocateColumns()...)
		for _, row := range locating.LocateRows([]api.LocateLine{{Line: 1, Query: c.Query, Items: found.Items, Anatomy: found.Anatomy}}) {
			out.Row(row...)
		}
		err = out.Close()
	default:
		if err = printItems(e.stdout, found.Items, words); err == nil {
			err = printInterpretation(e.stdout, found.LocateAnswer)
		}
	}
	if err != nil {
		return err
	}
	if text := staleText(found.AsOf, found.Stale, time.Now()); text != "" {
		e.note("%s", text)
	}
	return withoutOneOwner(found.Items)
}

// located is what one cluster answers, or each of a server's several of which none was named.
type located struct {
	api.LocateAnswer
	clusters *api.List[api.ClusterLocate]
}

// UnmarshalJSON tells the two answers of GET locate apart: only that of a cluster says how it read the query.
func (l *located) UnmarshalJSON(text []byte) error {
	var one struct{ Input *json.RawMessage }
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	if one.Input != nil {
		return json.Unmarshal(text, &l.LocateAnswer)
	}
	l.clusters = &api.List[api.ClusterLocate]{}
	return json.Unmarshal(text, l.clusters)
}

// find asks a server, or the cluster itself for no more than the answer needs.
func (c locateCmd) find(ctx context.Context, e *env) (found located, words app.Words, err error) {
	direct, err := c.isDirect(e)
	if err != nil {
		return found, words, err
	}
	if direct {
		config, err := c.config(e)
		if err != nil {
			return found, words, err
		}
		question := app.LocateQuery{Text: c.Query, NS: c.NS, Key: c.Key}
		question.Extras.Why, question.Extras.Prove, question.Extras.Counts = c.Why, c.Prove, c.Counts
		found.LocateAnswer, err = app.Locate(ctx, config, question)
		return found, config.Words(), err
	}
	source, err := c.open(e, "")
	if err != nil {
		return found, words, err
	}
	in := url.Values{}
	for name, value := range map[string]string{"q": c.Query, "ns": c.NS, "key": c.Key} {
		if value != "" {
			in.Set(name, value)
		}
	}
	for name, asked := range map[string]bool{"why": c.Why, "prove": c.Prove, "counts": c.Counts} {
		if asked {
			in.Set(name, "1")
		}
	}
	err = source.remote.Get(ctx, "/api/v1/locate?"+in.Encode(), &found)
	if err == nil && found.clusters == nil && !c.JSON && c.Output == "table" {
		words = source.remote.Words(ctx)
	}
	return found, words, err
}

// withoutOneOwner is the error for a key that has no owner or several, because the routing table is damaged, or one
// that the cluster does not have.
func withoutOneOwner(items []api.LocateItem) error {
	for _, it := range items {
		for _, p := range it.Places {
			if it.Kind == "key" && len(p.MissingShards) > 0 {
				return fault.New(fault.Internal, "The cluster does not have %s, which the metadata of %s names as the owner.",
					sanitize.Line(p.MissingShards[0]), sanitize.Line(p.NS))
			}
			if it.Kind == "key" && p.Damage != nil && len(p.Shards) != 1 {
				return fault.New(fault.Internal, "The routing table of %s is damaged. %s", sanitize.Line(p.NS), p.Damage.Text)
			}
		}
	}
	return nil
}

// printInterpretation says how the query was interpreted, what it cost the cluster and when the ids in it
// were created.
func printInterpretation(w io.Writer, found api.LocateAnswer) error {
	var forms []string
	for _, r := range found.Input {
		forms = append(forms, r.Form)
	}
	if len(found.Items) > 0 {
		fmt.Fprintln(w)
	}
	for _, a := range found.Anatomy {
		made := ""
		if a.Time != nil {
			made = ", made " + a.Time.UTC().Format(time.RFC3339)
		}
		fmt.Fprintln(w, sanitize.Line(fmt.Sprintf("id %s: %s%s", a.ID, a.Kind, made)))
	}
	_, err := fmt.Fprintf(
		w,
		"read as %s; queries: %d targeted, %d to all shards\n",
		strings.Join(slices.Compact(forms), " or "),
		found.Cost.Targeted,
		found.Cost.Broadcast,
	)
	return err
}

// printItems writes one block per item: a title, then a line per collection.
func printItems(w io.Writer, items []api.LocateItem, words app.Words) error {
	for i, it := range items {
		if i > 0 {
			fmt.Fprintln(w)
		}
		title := words.Kind(it.Kind) + " " + it.ShownID()
		if it.Name != "" && it.Name != it.ShownID() {
			title += "  " + it.Name
		}
		if it.ProjectName != "" && it.Kind != "project" {
			title += "  (" + words.In("project") + " " + it.ProjectName + ")"
		}
		if it.Removed {
			title += "  removed"
		}
		fmt.Fprintln(w, sanitize.Line(title))
		fmt.Fprintln(w, sanitize.Line("  "+it.Answer.String()))
		tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
		for _, p := range it.Places {
			fmt.Fprintln(tab, placeLine(p))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
		printWhy(w, it.Places)
	}
	return nil
}

// placeLine is collection, shard and reason, separated by tabs.
func placeLine(p api.Place) string {
	where := cmp.Or(answer.ManyShards(len(p.Shards)), strings.Join(p.Shards, ", "))
	switch {
	case p.State == "absent":
		where = "-"
	case where == "" && p.Damage != nil && p.Chunks > 0:
		where = "no shard"
	case where == "":
		where = "unknown"
	case !p.Exact:
		where = "any of " + where
	}
	why := "unsharded: all of it is on one shard"
	switch {
	case p.State == "absent":
		why = "no such collection"
	case p.Damage != nil && p.Chunks > 0 && len(p.Shards) != 1:
		why = fmt.Sprintf("keys [%s, %s)", p.Min, p.Max)
	case p.Sharded && len(p.Min) > 0 && string(p.Min) != "null":
		why = fmt.Sprintf("chunk [%s, %s)", p.Min, p.Max)
		if p.Hash != nil {
			why = "hash " + *p.Hash + " in " + why
		}
	case p.Sharded:
		why = fmt.Sprintf("chunks that can hold it: %d", p.Chunks)
	}
	return "  " + sanitize.Line(p.NS) + "\t" + sanitize.Line(where) + "\t" + sanitize.Line(why)
}
