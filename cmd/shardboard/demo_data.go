package main

import (
	"fmt"

	"shardboard/internal/app"
	"shardboard/internal/demodata"
	"shardboard/internal/fault"
)

// demoDataCmd is for developers and for deploy/compose, so it is not in the list of commands.
type demoDataCmd struct {
	URI       string `name:"uri" env:"SHARDBOARD_URI" help:"mongodb:// address of a mongos; with a password use the environment or --uri-file."`
	URIFile   string `name:"uri-file" env:"SHARDBOARD_URI_FILE" help:"File that holds the address; others must not be able to read it."`
	Database  string `default:"yorkie-meta" help:"Database for the data. It must not have any document."`
	Seed      int64  `default:"7" help:"Seed of the data."`
	Projects  int    `default:"60" help:"Number of projects."`
	Documents int    `default:"5000" help:"Number of Yorkie documents in all."`
	IfEmpty   bool   `help:"Exit with 0 when the database has documents already; nothing is written then."`
}

func (c demoDataCmd) Run(e *env) error {
	switch {
	case (c.URI == "") == (c.URIFile == ""):
		return fault.New(fault.Invalid, "Give the address of a mongos by --uri or by --uri-file.")
	case c.Projects < 1 || c.Projects > 10_000 || c.Documents < 1 || c.Documents > 1_000_000:
		return fault.New(fault.Invalid, "--projects must be between 1 and 10000, --documents between 1 and 1000000.")
	case c.Database == "" || c.Database == "admin" || c.Database == "config" || c.Database == "local":
		return fault.New(fault.Invalid, "--database %q cannot hold the data.", c.Database)
	}
	uri := c.URI
	if c.URIFile != "" {
		var err error
		if uri, err = app.ReadSecret("MongoDB address", c.URIFile); err != nil {
			return err
		}
	}
	err := demodata.Load(e.ctx, demodata.Options{
		URI: uri, Database: c.Database, Seed: c.Seed, Projects: c.Projects, Documents: c.Documents, Log: e.log,
	})
	if c.IfEmpty && fault.Of(err) == fault.Conflict {
		_, err = fmt.Fprintf(e.stdout, "Nothing was written: %s is not empty.\n", c.Database)
		return err
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "Written to %s: projects: %d, Yorkie documents: %d\n", c.Database, c.Projects, c.Documents)
	return err
}
