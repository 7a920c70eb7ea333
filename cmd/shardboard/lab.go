package main

import (
	"fmt"
	"io"
	"net/url"
	"os"

	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// labCmd has what is tried without changing a cluster.
type labCmd struct {
	Growth labGrowthCmd `cmd:"" help:"Predict the moves, the time and the free space when shards are added or emptied and data grows."`
	Keys   labKeysCmd   `cmd:"" help:"Compare shard keys over a model of Yorkie's data, or over rows of a collection."`
	IDs    labIDsCmd    `cmd:"" name:"ids" help:"Show on which shards the same inserts land with ObjectIDs, UUIDs and locality UUIDs."`
	Game   labGameCmd   `cmd:"" help:"Play the card game about shard keys: who takes the data, what is split and moved, who answers queries."`
}

// labGameCmd plays a game. Its flags are the parameters of the API, as text: the answer reads and checks them.
type labGameCmd struct {
	Key      string `placeholder:"KEY" help:"Fields with commas between them, each as it is or as hash(field), such as deck,hash(order); default order."`
	Players  string `placeholder:"N" help:"Players, which are shards, from 1 to 60; default 4."`
	Dealers  string `placeholder:"N" help:"Dealers, which are application servers, from 1 to 60; default 4."`
	Workload string `placeholder:"DATA" help:"cards (fields suit and rank) or projects (fields project and doc); default cards. All have order and deck."`
	CSV      string `name:"csv" type:"path" placeholder:"FILE" help:"Your own rows: a line with names of fields, and a line for each card; at most 1 MiB."`
	Decks    string `placeholder:"N" help:"Decks of 52 cards, from 1 to 200; default 4."`
	Projects string `placeholder:"N" help:"With --workload=projects: how many, from 1 to 1000; default 20."`
	Skew     string `placeholder:"S" help:"With --workload=projects: from 0, all alike, to 3; default 1."`
	Joins    string `placeholder:"N,N" help:"A player joins after each of these numbers of cards; at most 20."`
	Seed     string `placeholder:"N" help:"Of the projects' data, and of the order of cards in a round; default 1."`

	Turns   bool   `help:"Show every card and what came of it."`
	Queries bool   `help:"Show who answers queries with the chosen key."`
	Load    bool   `help:"Show what each player had to do in each deck with the chosen key."`
	Show    string `placeholder:"WHAT" help:"With --output=svg: cards (taken) or chunks (owned); default cards."`
	Output  string `short:"o" enum:"table,wide,json,csv,svg" default:"table" help:"table; wide, with all columns; json, csv, or svg, a picture of the players' load."`
}

// Help tells what is shown.
func (labGameCmd) Help() string {
	return "Needs no server and no cluster. The same flags make the same game. JSON without --turns, --queries and --load is that of the " +
		"API. docs/lab.md has the rules and what the numbers mean."
}

// Run plays and shows the game.
func (c labGameCmd) Run(e *env) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	if c.Turns && c.Output != "svg" {
		list := trying.LabGameTurns(trying.LabGameTurnsQuery{LabGameQuery: q, From: 1, Limit: q.Cards()})
		return writeItems(e, c.Output, list.Items, c.columns("number", "player", "key", "held", "split.at", "pass.to", "text")...)
	}
	g := trying.LabGame(q)
	switch {
	case c.Output == "svg":
		svg, err := trying.LabGamePicture(g, c.Show)
		if err != nil {
			return err
		}
		_, err = io.WriteString(e.stdout, svg)
		return ended(err)
	case c.Queries:
		return writeItems(e, c.Output, g.Queries)
	case c.Load:
		return writeItems(e, c.Output, g.Load)
	case c.Output == "json":
		return printJSON(e.stdout, g)
	}
	if err := writeItems(e, c.Output, g.Items, c.columns("key", "hotShare", "deckHotShare", "rounds", "roundsNeeded", "passesPerCard",
		"searchedLast", "finishedShare", "unsplittable")...); err != nil || c.Output == "csv" {
		return err
	}
	return ended(printVerdicts(e.stdout, g.Items))
}

// query reads the flags.
func (c labGameCmd) query() (q trying.LabGameQuery, err error) {
	if c.Turns && c.Queries || c.Turns && c.Load || c.Queries && c.Load {
		return q, fault.New(fault.Invalid, "Give one of --turns, --queries and --load.")
	}
	if c.Show != "" && c.Output != "svg" {
		return q, fault.New(fault.Invalid, "--show goes with --output=svg.")
	}
	in := url.Values{}
	for name, value := range map[string]string{"key": c.Key, "players": c.Players, "dealers": c.Dealers, "workload": c.Workload,
		"decks": c.Decks, "projects": c.Projects, "skew": c.Skew, "joins": c.Joins, "seed": c.Seed} {
		in.Set(name, value)
	}
	if c.CSV != "" {
		if c.Workload != "" && c.Workload != trying.LabCSV {
			return q, fault.New(fault.Invalid, "--csv is a workload of its own, and goes with no other --workload.")
		}
		text, err := readFile(c.CSV, trying.MaxLabFile)
		if err != nil {
			return q, err
		}
		in.Set("workload", trying.LabCSV)
		in.Set("csv", text)
	}
	err = q.Parameters(trying.MaxLabFile).Read(in)
	return q, err
}

// readFile reads a file of at most so many bytes; one more is read of a longer one, which is refused by its reader.
func readFile(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "The file %s cannot be read.", sanitize.Line(path))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	return string(text), fault.Wrap(fault.Invalid, err, "The file %s cannot be read.", sanitize.Line(path))
}

// columns are the usual ones of a table, and all of a wide one.
func (c labGameCmd) columns(usual ...string) []string {
	if c.Output == "wide" {
		return nil
	}
	return usual
}

// printVerdicts says below the table what each key shows.
func printVerdicts(w io.Writer, results []api.LabGameResult) (err error) {
	_, err = fmt.Fprintln(w)
	for _, r := range results {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", sanitize.Line(r.Key), r.Text)
		}
	}
	return err
}
