package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"shardboard/internal/app"
)

const uriVariable = "SHARDBOARD_URI"

// typedSecret warns somebody who typed a password into an address.
const typedSecret = "shardboard: The address of --uri has a password, and everybody on this machine can see the arguments of a program. " +
	"It was moved to the environment, but shells keep a history: put the address into " + uriVariable +
	", or into a file and give that by --uri-file; change the password if others use this machine."

// hideSecret restarts the program with an address that has a password moved from the arguments to
// the environment, which only its owner can read. It returns when no argument has one, or when the
// restart fails.
func hideSecret(stderr io.Writer) {
	args, address := withoutSecret(os.Args)
	if address == "" {
		return
	}
	fmt.Fprintln(stderr, typedSecret)
	self, err := os.Executable()
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, uriVariable+"=") })
		err = syscall.Exec(self, args, append(env, uriVariable+"="+address))
	}
	fmt.Fprintln(stderr, "shardboard: The address could not be moved to the environment:", err)
}

// withoutSecret returns the arguments without an address that has a password, and that address; ""
// when there is none.
func withoutSecret(args []string) (rest []string, address string) {
	for i := 0; i < len(args); i++ {
		text, joined := strings.CutPrefix(args[i], "--uri=")
		words := 1
		if !joined {
			if args[i] == "--" {
				return append(rest, args[i:]...), address
			}
			if args[i] != "--uri" || i+1 == len(args) {
				rest = append(rest, args[i])
				continue
			}
			text, words = args[i+1], 2
		}
		if uri, err := app.ReadURI(text, ""); err == nil && uri.HoldsSecret() {
			address = text
		} else {
			rest = append(rest, args[i:i+words]...)
		}
		i += words - 1
	}
	return rest, address
}
