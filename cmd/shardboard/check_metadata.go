package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/sanitize"
)

type checkMetadataCmd struct {
	clusterFlags `embed:""`
	Of           string `arg:"" optional:"" name:"database-or-collection" help:"Check this database or collection (database.collection) only; default: the whole cluster."`
	JSON         bool   `name:"json" help:"Print the API's JSON."`
}

// contradictionsFound is returned when the check found something: the exit code is 1.
type contradictionsFound int

func (n contradictionsFound) Error() string {
	return fmt.Sprintf("the metadata contradicts itself: %d found", int(n))
}

func (c checkMetadataCmd) Run(e *env) error {
	config, err := c.config(e)
	if err != nil {
		return err
	}
	in := api.MetadataCheckStart{DB: c.Of}
	if strings.Contains(c.Of, ".") {
		in = api.MetadataCheckStart{NS: c.Of}
	}
	ctx, cancel := context.WithTimeout(e.ctx, locateTimeout)
	defer cancel()
	found, err := app.CheckMetadata(ctx, config, in)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e.stdout, found)
	} else {
		err = printFindings(e, found)
	}
	if err == nil && len(found.Items) > 0 {
		err = contradictionsFound(len(found.Items))
	}
	return err
}

func printFindings(e *env, c api.MetadataCheck) error {
	if len(c.Items) == 0 {
		_, err := fmt.Fprintln(e.stdout, "Nothing contradicts itself.")
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "KIND\tCOLLECTION\tSHARD\tCONTRADICTION") // Flush tells of errors
	for _, f := range c.Items {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", sanitize.Line(f.Kind), sanitize.Line(f.NS), sanitize.Line(f.Shard), sanitize.Line(f.Text))
	}
	if c.More {
		_, _ = fmt.Fprintln(w, "There are more.")
	}
	return w.Flush()
}
