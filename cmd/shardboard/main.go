// Command shardboard is the dashboard for sharded MongoDB: a server, a simulated cluster to try it
// on, and one-shot commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "dev"

func main() {
	hideSecret(os.Stderr)
	signal.Ignore(syscall.SIGPIPE) // a reader that leaves early is an error of the write, which get takes for its end
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
