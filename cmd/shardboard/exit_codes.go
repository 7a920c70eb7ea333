package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"shardboard/internal/fault"
)

// exitCode is an exit code and what it means.
type exitCode struct {
	code int
	text string
}

// interrupted is the exit code of a command that Ctrl-C ended before it was done, as shells have it.
const interrupted = 130

// exitCodes are all of them; every command ends with one.
func exitCodes() []exitCode {
	out := []exitCode{{0, "done"}}
	for _, of := range []struct {
		kind fault.Kind
		text string
	}{
		{fault.Internal, "failed, or what was checked is not in order"},
		{fault.Invalid, "the command line or an argument is wrong"},
		{fault.NotFound, "there is no such object"},
		{fault.Conflict, "refused: something has changed, a check blocks it, or not confirmed"},
		{fault.Forbidden, "a right is missing, of yours or of the cluster user"},
		{fault.Unavailable, "the server or the cluster does not answer; try again later"},
		{fault.UnknownOutcome, "the outcome is unknown: read the cluster before you try again"},
	} {
		out = append(out, exitCode{of.kind.ExitCode(), of.text})
	}
	return append(out, exitCode{interrupted, "ended by Ctrl-C before it was done"})
}

// help prints the help of a command with the exit codes.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	return printExitCodes(ctx.Stdout)
}

func printExitCodes(w io.Writer) error {
	text := "\nExit codes:\n"
	for _, c := range exitCodes() {
		text += fmt.Sprintf("  %d  %s\n", c.code, c.text)
	}
	_, err := io.WriteString(w, text)
	return err
}
