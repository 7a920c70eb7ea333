package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// passwordFlags say where to read a password: typed twice in a terminal without echo, else from the
// first line of standard input or from a file. Never from the command line.
type passwordFlags struct {
	PasswordFile string `name:"password-file" type:"path" placeholder:"FILE" help:"File that holds the password and that others cannot read; else it is asked for, or read from the standard input."`
	Leaked       string `name:"leaked-passwords" type:"path" env:"SHARDBOARD_LEAKED_PASSWORDS" placeholder:"FILE" help:"With --data-dir: file of leaked passwords, which are refused. A running server has its own."`
}

func (f passwordFlags) password(e *env) (string, error) {
	if f.PasswordFile != "" {
		return app.ReadSecret("password", f.PasswordFile)
	}
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		before, err := term.GetState(fd)
		if err != nil {
			return "", fault.Wrap(fault.Invalid, err, "The password cannot be read.")
		}
		defer func() { _ = term.Restore(fd, before) }() // Ctrl-C leaves a read behind, which has switched the echo off
		return askTwice(e, func() ([]byte, error) { return term.ReadPassword(fd) })
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 1<<12)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fault.Wrap(fault.Invalid, err, "The password cannot be read from the standard input.")
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", fault.New(fault.Invalid, "No password was given: write it to the standard input, or use --password-file.")
	}
	return line, nil
}

func askTwice(e *env, read func() ([]byte, error)) (string, error) {
	var answers [2]string
	for i, prompt := range []string{"Password: ", "Repeat the password: "} {
		fmt.Fprint(e.stderr, prompt)
		text, err := answered(e.ctx, read)
		fmt.Fprintln(e.stderr)
		switch {
		case errors.Is(err, context.Canceled):
			return "", fault.Wrap(fault.Conflict, err, "Nothing was changed.")
		case err != nil:
			return "", fault.Wrap(fault.Invalid, err, "The password cannot be read.")
		}
		answers[i] = string(text)
	}
	if answers[0] != answers[1] {
		return "", fault.New(fault.Invalid, "The two passwords are not the same. Nothing was changed.")
	}
	return answers[0], nil
}
