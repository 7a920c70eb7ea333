package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/alecthomas/kong"

	"shardboard/internal/configfile"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// cli is the command line; each command's struct is in its own file.
type cli struct {
	Serve         serveCmd         `cmd:"" help:"Serve the dashboard over a cluster."`
	CheckConfig   checkConfigCmd   `cmd:"" help:"Check a configuration file of serve, and list all its mistakes."`
	Demo          demoCmd          `cmd:"" help:"Serve the dashboard over a simulated cluster full of Yorkie-shaped data."`
	Simcluster    simclusterCmd    `cmd:"" help:"Run the simulated sharded cluster alone, for any MongoDB driver."`
	Get           getCmd           `cmd:"" help:"Show shards, collections, chunks, projects, zones, activity and all else that can be read."`
	Export        exportCmd        `cmd:"" help:"Write all that can be read to a directory or a ZIP file, as JSON and CSV."`
	Locate        locateCmd        `cmd:"" help:"Show on which shard a project, Yorkie document or id is."`
	Profile       profileCmd       `cmd:"" help:"Propose what tenants and documents are in data that is not Yorkie's."`
	ID            idCmd            `cmd:"" name:"id" help:"Make locality UUIDs, or take them apart."`
	Lab           labCmd           `cmd:"" help:"Try shard keys and predict growth without changing a cluster."`
	Plan          planCmd          `cmd:"" help:"Plan a change of the cluster on a running server; changes nothing."`
	Approve       approveCmd       `cmd:"" help:"Approve a plan of somebody else that needs it; asks in a terminal."`
	Refuse        refuseCmd        `cmd:"" help:"Refuse a plan that waits for approval, or take an approval back."`
	Run           runCmd           `cmd:"" help:"Run a plan, once; asks for confirmation in a terminal."`
	Runs          runsCmd          `cmd:"" help:"List, show, stop and undo runs."`
	Postmortem    postmortemCmd    `cmd:"" help:"Print what was wrong in a time, what was done, by whom, and what that changed, as Markdown."`
	Alerts        alertsCmd        `cmd:"" help:"Test the alert receivers of a running server."`
	Audit         auditCmd         `cmd:"" help:"Verify or export the record of who did what."`
	Doctor        doctorCmd        `cmd:"" help:"Show which privileges the cluster user lacks, and for which features. Exits with 1 if it lacks any."`
	CheckMetadata checkMetadataCmd `cmd:"" help:"Let the cluster look for contradictions in its metadata (MongoDB 7.0 and later); reads only. Exits with 1 if it finds any."`
	User          userCmd          `cmd:"" help:"Add, change and list users."`
	Token         tokenCmd         `cmd:"" help:"Create, revoke and list tokens for scripts."`
	Store         storeCmd         `cmd:"" help:"Copy, back up and restore what shardboard stores."`
	Takeover      takeoverCmd      `cmd:"" help:"Make a running read-only server the owner of the data directory after its owner has stopped. Needs the role admin."`
	Healthcheck   healthcheckCmd   `cmd:"" help:"Check that a server runs; exits with 0 when it answers."`
	Bench         benchCmd         `cmd:"" help:"Measure what watching a large cluster costs on this machine, beside what it may cost."`
	BenchPart     benchPartCmd     `cmd:"" hidden:""`
	Completion    completionCmd    `cmd:"" help:"Print the script that completes commands and names in bash, zsh or fish."`
	Man           manCmd           `cmd:"" help:"Print the manual page, for man."`
	DemoData      demoDataCmd      `cmd:"" hidden:"" help:"Fill an empty database of a real sharded cluster with the demo's data, to try things out."`
	Version       versionCmd       `cmd:"" help:"Print the version."`

	LogLevel  slog.Level `default:"info" enum:"DEBUG,INFO,WARN,ERROR,debug,info,warn,error" help:"Lowest level that is logged: debug, info, warn or error." env:"SHARDBOARD_LOG_LEVEL"`
	LogFormat string     `default:"text" enum:"text,json" env:"SHARDBOARD_LOG_FORMAT" help:"What a line of the log is: text (key=value) or json."`
}

// command is a command after its flags were read.
type command interface{ Run(e *env) error }

// newLog makes the log of a command.
func newLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// env is what every command gets: its outputs, its logger and the context that ends it.
type env struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger
	logAt  func(slog.Level) *slog.Logger // a log with another lowest level
	args   []string                      // as they were given
	out    terminal                      // what stdout is
	flags  map[string]bool               // names of the flags that are on the command line
}

// given reports whether a flag is on the command line, and not from the environment.
func (e *env) given(flag string) bool { return e.flags[flag] }

func newCLI() cli {
	return cli{Plan: planCmd{Flags: kong.Plugins{planFlags()}}, Get: getCmd{Resources: kong.Plugins{getCommands()}},
		Lab: labCmd{Growth: labGrowthCmd{Asked: kong.Plugins{askedFlags(growthResource)}}}}
}

// newParser makes the parser of a command line. exit becomes the exit code of --help.
func newParser(c *cli, stdout, stderr io.Writer, exit *int) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("shardboard"),
		kong.Description("The dashboard for sharded MongoDB: where is it, how is it spread, change it safely."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { *exit = code }),
		kong.UsageOnError(),
		kong.Help(help),
		kong.Vars{"version": version, "planKinds": planKinds()},
	)
}

// run parses and runs a command line and returns the exit code. Errors are one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, exit := newCLI(), -1
	parser, err := newParser(&c, stdout, stderr, &exit)
	if err != nil {
		fmt.Fprintln(stderr, "shardboard:", err)
		return fault.Internal.ExitCode()
	}
	if len(args) > 0 && args[0] == "complete" { // of the scripts of completion
		printCandidates(stdout, complete(ctx, parser.Model, args[1:], serverNames))
		return 0
	}
	if len(args) == 0 {
		args = []string{"--help"}
	} else if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(withNames(args))
	if exit >= 0 { // --help
		return exit
	}
	if err != nil {
		fmt.Fprintln(stderr, "shardboard:", err)
		return fault.Invalid.ExitCode()
	}
	format := c.LogFormat
	logAt := func(level slog.Level) *slog.Logger { return newLog(stderr, format, level) }
	log := logAt(c.LogLevel)
	e := &env{ctx: ctx, stdout: stdout, stderr: stderr, log: log, logAt: logAt, args: args, out: terminalOf(stdout), flags: map[string]bool{}}
	for _, p := range parsed.Path {
		if p.Flag != nil {
			e.flags[p.Flag.Name] = true
		}
	}
	serves := slices.Contains([]string{"serve", "demo", "simcluster"}, parsed.Command())
	// Not by parsed, which would keep what describes every command, 2 MB, for as long as a server runs.
	err = parsed.Selected().Target.Addr().Interface().(command).Run(e)
	switch {
	case err == nil || serves && errors.Is(err, context.Canceled):
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		if fault.Of(err) == fault.Conflict { // says what was left undone
			printError(stderr, err)
		}
		return interrupted
	}
	if serves && format == "json" { // whatever reads the log reads no other lines
		log.Error("shardboard has ended", "why", sanitize.Line(message(err)), "cause", err)
		return fault.Of(err).ExitCode()
	}
	printError(stderr, err)
	if serves && fault.Of(err) != fault.Invalid {
		log.Error("shardboard has ended", "cause", err)
	}
	return fault.Of(err).ExitCode()
}

// printError prints an error in one line, and the mistakes of a configuration file in a line each.
func printError(stderr io.Writer, err error) {
	if list := (*configfile.Problems)(nil); errors.As(err, &list) {
		for _, line := range list.Lines {
			fmt.Fprintln(stderr, sanitize.Line(line))
		}
		return
	}
	fmt.Fprintln(stderr, "shardboard:", sanitize.Line(message(err)))
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
