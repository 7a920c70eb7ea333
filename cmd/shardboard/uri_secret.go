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

// secretFlags are the flags whose value may be an address with a password, and the variables that
// stand for them.
var secretFlags = []struct{ flag, variable string }{
	{"--uri", "SHARDBOARD_URI"}, {"--store", "SHARDBOARD_STORE"},
	{"--from", "SHARDBOARD_STORE_FROM"}, {"--to", "SHARDBOARD_STORE_TO"}, // of shardboard store
}

// typedSecret warns somebody who typed a password into an address.
const typedSecret = "shardboard: The address of %[1]s has a password, and everybody on this machine can see the arguments of a program. " +
	"It was moved to the environment, but shells keep a history: put the address into %[2]s, or into a file and give that by %[1]s-file; " +
	"change the password if others use this machine.\n"

// hideSecret restarts the program with addresses that have a password moved from the arguments to the
// environment, which only its owner can read. It returns when no argument has one, or when the
// restart fails.
func hideSecret(stderr io.Writer) {
	args, moved := withoutSecrets(os.Args)
	if len(moved) == 0 {
		return
	}
	env := os.Environ()
	for _, f := range secretFlags {
		address, ok := moved[f.flag]
		if !ok {
			continue
		}
		fmt.Fprintf(stderr, typedSecret, f.flag, f.variable)
		env = withAddress(env, f.variable, address)
	}
	self, err := os.Executable()
	if err == nil {
		err = syscall.Exec(self, args, env)
	}
	fmt.Fprintln(stderr, "shardboard: The address could not be moved to the environment:", err)
}

// withAddress is an environment with an address that was on the command line. A server that the environment
// names is left out where the address is a cluster's: the command line comes first.
func withAddress(env []string, variable, address string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, variable+"=") || variable == "SHARDBOARD_URI" && strings.HasPrefix(v, "SHARDBOARD_SERVER=")
	})
	return append(env, variable+"="+address)
}

// withoutSecrets returns the arguments without the addresses that have a password, and those
// addresses by their flags.
func withoutSecrets(args []string) (rest []string, moved map[string]string) {
	moved = map[string]string{}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(rest, args[i:]...), moved
		}
		flag, value, words := secretFlag(args[i:])
		if words > 0 && app.HoldsSecret(value) {
			moved[flag] = value
		} else {
			words = max(words, 1)
			rest = append(rest, args[i:i+words]...)
		}
		i += words - 1
	}
	return rest, moved
}

// secretFlag reads one of secretFlags with its value from the beginning of arguments. words is how many
// they are, 0 when it is another argument.
func secretFlag(args []string) (flag, value string, words int) {
	for _, f := range secretFlags {
		if text, joined := strings.CutPrefix(args[0], f.flag+"="); joined {
			return f.flag, text, 1
		}
		if args[0] == f.flag && len(args) > 1 {
			return f.flag, args[1], 2
		}
	}
	return "", "", 0
}
