package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// cli is the command line; each command's struct is in its own file.
type cli struct {
	Serve       serveCmd       `cmd:"" help:"Serve the dashboard over a cluster."`
	Demo        demoCmd        `cmd:"" help:"Serve the dashboard over a simulated cluster full of Yorkie-shaped data."`
	Simcluster  simclusterCmd  `cmd:"" help:"Run the simulated sharded cluster alone, for any MongoDB driver."`
	Locate      locateCmd      `cmd:"" help:"Show on which shard a project, Yorkie document or id is."`
	Plan        planCmd        `cmd:"" help:"Plan a change of the cluster on a running server; changes nothing."`
	Run         runCmd         `cmd:"" help:"Run a plan, once; asks for confirmation in a terminal."`
	Runs        runsCmd        `cmd:"" help:"List, show, stop and undo runs."`
	Audit       auditCmd       `cmd:"" help:"Verify or export the record of who did what."`
	Doctor      doctorCmd      `cmd:"" help:"Show which privileges the cluster user lacks, and for which features. Exits with 1 if it lacks any."`
	User        userCmd        `cmd:"" help:"Add, change and list users."`
	Token       tokenCmd       `cmd:"" help:"Create, revoke and list tokens for scripts."`
	Takeover    takeoverCmd    `cmd:"" help:"Make a running read-only server the owner of the data directory after its owner has stopped. Needs the role admin."`
	Healthcheck healthcheckCmd `cmd:"" help:"Check that a server runs; exits with 0 when it answers."`
	Version     versionCmd     `cmd:"" help:"Print the version."`

	LogLevel slog.Level `default:"info" enum:"DEBUG,INFO,WARN,ERROR,debug,info,warn,error" help:"Lowest level that is logged: debug, info, warn or error." env:"SHARDBOARD_LOG_LEVEL"`
}

// env is what every command gets: its outputs, its logger and the context that ends it.
type env struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger
}

// run parses and runs a command line and returns the exit code. Errors are one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := cli{Plan: planCmd{Flags: kong.Plugins{planFlags()}}}
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("shardboard"),
		kong.Description("The dashboard for sharded MongoDB: where is it, how is it spread, change it safely."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exit = code }),
		kong.UsageOnError(),
		kong.Vars{"version": version, "planKinds": planKinds()},
	)
	if err != nil {
		fmt.Fprintln(stderr, "shardboard:", err)
		return fault.Internal.ExitCode()
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // --help
		return exit
	}
	if err != nil {
		fmt.Fprintln(stderr, "shardboard:", err)
		return fault.Invalid.ExitCode()
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	if err := parsed.Run(&env{ctx: ctx, stdout: stdout, stderr: stderr, log: log}); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "shardboard:", sanitize.Line(message(err)))
		if served := parsed.Command() == "serve" || parsed.Command() == "demo"; served && fault.Of(err) != fault.Invalid {
			log.Error("shardboard has ended", "cause", err)
		}
		return fault.Of(err).ExitCode()
	}
	return 0
}

// message is one line for people: the error's sentence if it has one, else its text (an unknown
// flag, a port in use).
func message(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Text
	}
	return err.Error()
}
