package main

import (
	"fmt"
	"io"
	"strings"

	"shardboard/internal/app"
	"shardboard/internal/fault"
)

type storeCmd struct {
	Copy    storeCopyCmd    `cmd:"" help:"Copy everything from one store into another, empty one; servers on both must be stopped."`
	Backup  storeBackupCmd  `cmd:"" help:"Write a store into a new file; servers may run meanwhile."`
	Restore storeRestoreCmd `cmd:"" help:"Load a backup into an empty store, whose servers must be stopped."`
}

type storeCopyCmd struct {
	From     string `env:"SHARDBOARD_STORE_FROM" placeholder:"DIR|URI" help:"Data directory or mongodb:// address to copy from. With a password, use the environment or --from-file."`
	FromFile string `name:"from-file" placeholder:"FILE" help:"File that holds the address to copy from."`
	To       string `env:"SHARDBOARD_STORE_TO" placeholder:"DIR|URI" help:"Data directory or mongodb:// address to copy to; must hold nothing."`
	ToFile   string `name:"to-file" placeholder:"FILE" help:"File that holds the address to copy to."`
}

func (c storeCopyCmd) Run(e *env) error {
	from, err := app.ReadStorePlace("from", c.From, c.FromFile)
	if err != nil {
		return err
	}
	to, err := app.ReadStorePlace("to", c.To, c.ToFile)
	if err != nil {
		return err
	}
	counts, err := app.CopyStore(e.ctx, from, to, e.log)
	if err != nil {
		return err
	}
	return printCounts(e.stdout, counts, "Copied. The audit record was verified before and after.")
}

// placeFlags say which store a backup is of.
type placeFlags struct {
	dataFlags  `embed:""`
	storeFlags `embed:""`
}

func (f placeFlags) place() (app.StorePlace, error) {
	at, err := app.ReadStore(f.Store, f.StoreFile)
	if err != nil || !at.IsZero() {
		return app.StorePlace{Address: at}, err
	}
	dir, err := f.dir()
	return app.StorePlace{Dir: dir}, err
}

type storeBackupCmd struct {
	placeFlags `embed:""`
	To         string `required:"" type:"path" placeholder:"FILE" help:"New file. Only you can read it: it has the hashes of passwords."`
}

func (c storeBackupCmd) Run(e *env) error {
	from, err := c.place()
	if err != nil {
		return err
	}
	counts, err := app.BackupStore(e.ctx, from, c.To, "shardboard "+version, e.log)
	if err != nil {
		return err
	}
	return printCounts(e.stdout, counts, "Written to "+c.To+".")
}

type storeRestoreCmd struct {
	placeFlags `embed:""`
	From       string `required:"" type:"path" placeholder:"FILE" help:"File that shardboard store backup wrote."`
}

func (c storeRestoreCmd) Run(e *env) error {
	if strings.Contains(c.From, "://") {
		return fault.New(fault.Invalid, "--from is the file of a backup; to copy from a database use shardboard store copy.")
	}
	to, err := c.place()
	if err != nil {
		return err
	}
	counts, err := app.RestoreStore(e.ctx, c.From, to, e.log)
	if err != nil {
		return err
	}
	return printCounts(e.stdout, counts, "Restored. The audit record was verified.")
}

// printCounts prints how many rows of each kind there are, and then a sentence.
func printCounts(w io.Writer, counts []app.StoreCount, done string) error {
	total := 0
	for _, c := range counts {
		fmt.Fprintf(w, "%9d  %s\n", c.Rows, strings.ReplaceAll(c.Table, "_", " "))
		total += c.Rows
	}
	_, err := fmt.Fprintf(w, "%s Rows in all: %d.\n", done, total)
	return err
}
