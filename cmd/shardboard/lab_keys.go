package main

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// labKeysCmd compares shard keys. Its flags are the parameters of the API, as text: the answer reads and checks them.
type labKeysCmd struct {
	remoteFlags `embed:""`

	NS         string   `name:"ns" placeholder:"DB.COLL" help:"Read rows of this collection through the server. Without it a model is compared, and no server is needed."`
	Rows       string   `placeholder:"N" help:"Rows to look at, from 100 to 50000 of a collection (default 2000), to 100000 of a model (default 20000)."`
	Collection string   `placeholder:"NAME" help:"Of the model: documents, clients or changes; default documents."`
	Projects   string   `placeholder:"N" help:"Of the model: how many, to 1000000; default 200."`
	PerProject string   `placeholder:"N" help:"Of the model: documents, or clients, of a project on average; default 1000."`
	PerDoc     string   `name:"per-document" placeholder:"N" help:"Of the model of changes: changes of a document on average; default 100."`
	Skew       string   `placeholder:"S" help:"Of the model: how much larger the largest are, from 0, all alike, to 3; default 1."`
	Growth     string   `placeholder:"G" help:"Of the model: how many times as many rows a day at the end as at the beginning, to 1000; default 1."`
	Days       string   `placeholder:"N" help:"Of the model: from the first row to the last, to 3650; default 90."`
	RowBytes   string   `placeholder:"N" help:"Of the model: size of a row; default 400, 700 or 900."`
	Seed       string   `placeholder:"N" help:"Of all that is by chance; default 1."`
	Shards     string   `placeholder:"N" help:"From 1 to 1024; default those of the cluster, or 3."`
	ChunkMB    string   `name:"chunk-mb" placeholder:"N" help:"Chunk size, from 1 to 1024; default that of the cluster, or 128."`
	RateMB     string   `name:"rate-mb" placeholder:"N" help:"What resharding copies in a second; default 20."`
	Release    string   `placeholder:"X.Y" help:"Release of MongoDB; default that of the cluster, or 8.0."`
	Today      string   `placeholder:"JSON" help:"Shard key of today, or none; default that of the collection."`
	Key        []string `sep:"none" placeholder:"JSON" help:"A key to add, such as {\"project_id\":1,\"key\":1}; can be repeated, at most 8 times."`

	Queries bool   `help:"Show which shards each query of Yorkie's reaches, by key."`
	Output  string `short:"o" enum:"table,wide,json,csv" default:"table" help:"table; wide, with all columns; json or csv."`
}

// Help tells what is shown.
func (labKeysCmd) Help() string {
	return "The same flags compare the same rows of a model again. Rows of a collection are read at random by the server, within the " +
		"budget of all its measurements; Ctrl-C stops the reading. docs/lab.md tells what the numbers mean."
}

// Run compares and shows.
func (c labKeysCmd) Run(e *env) error {
	in := c.parameters()
	var a api.LabKeys
	var err error
	if c.NS != "" {
		a, err = c.ask(e, in)
	} else {
		var q trying.LabKeysQuery
		if q, err = trying.ParseLabKeys(in, answer.View{}); err == nil {
			a, err = trying.LabKeys(e.ctx, answer.View{}, q, nil)
		}
	}
	if err != nil {
		return err
	}
	switch {
	case c.Queries:
		return writeItems(e, c.Output, queriesOfKeys(a))
	case c.Output == "json":
		return printJSON(e.stdout, a)
	}
	columns := []string{"key", "values.value", "common.value", "chunks", "unsplittable", "fullestShare", "insertShare", "allShards",
		"cost.how", "cost.bytes"}
	if c.Output == "wide" {
		columns = nil
	}
	if err := writeItems(e, c.Output, a.Items, columns...); err != nil || c.Output == "csv" {
		return err
	}
	return ended(printWeaknesses(e.stdout, a))
}

func (c labKeysCmd) parameters() url.Values {
	in := url.Values{}
	for name, value := range map[string]string{"ns": c.NS, "rows": c.Rows, "collection": c.Collection, "projects": c.Projects,
		"perProject": c.PerProject, "perDocument": c.PerDoc, "skew": c.Skew, "growth": c.Growth, "days": c.Days, "rowBytes": c.RowBytes,
		"seed": c.Seed, "shards": c.Shards, "chunkMB": c.ChunkMB, "rateMB": c.RateMB, "release": c.Release, "today": c.Today} {
		if value != "" {
			in.Set(name, value)
		}
	}
	if len(c.Key) > 0 {
		all := ""
		for _, k := range c.Key {
			all += k + " "
		}
		in.Set("keys", all)
	}
	return in
}

// askAgain is after how long the server is asked how far its reading is; it stops when nobody asks.
const askAgain = time.Second

// ask lets the server read rows, and shows how far it is until they are read.
func (c labKeysCmd) ask(e *env, in url.Values) (a api.LabKeys, err error) {
	r, err := c.remote()
	if err != nil {
		return a, err
	}
	for {
		a = api.LabKeys{}
		if err := r.Get(e.ctx, api.Prefix+"/lab/keys?"+in.Encode(), &a); err != nil || a.Reading == nil {
			return a, err
		}
		if _, err := fmt.Fprintln(e.stderr, a.Reading.Text); err != nil {
			return a, err
		}
		select {
		case <-e.ctx.Done():
			return a, e.ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// keyQuery is where a query goes with a key.
type keyQuery struct {
	Key    string  `json:"key"`
	Query  string  `json:"query"`
	Reach  string  `json:"reach"`
	Shards float64 `json:"shards"`
}

func queriesOfKeys(a api.LabKeys) (out []keyQuery) {
	for _, k := range a.Items {
		for _, q := range k.Queries {
			out = append(out, keyQuery{k.Key, q.Name, q.Reach, q.Shards})
		}
	}
	return out
}

// printWeaknesses says below the table what the rows are, and what is weak in each key.
func printWeaknesses(w io.Writer, a api.LabKeys) (err error) {
	_, err = fmt.Fprintf(w, "\n%s %s\n\n", a.Source, a.Server)
	for _, k := range a.Items {
		text := k.Weakness
		if k.Problem != "" {
			text = sanitize.Line(k.Problem)
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", sanitize.Line(k.Key), text)
		}
	}
	return err
}
