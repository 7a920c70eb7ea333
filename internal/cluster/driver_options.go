package cluster

import (
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/mongoclient"
)

// clientOptions are the driver options of the address, with our overrides. docs/connect.md
// lists them.
func clientOptions(uri URI, o Options) *options.ClientOptions {
	opts := mongoclient.Complete(options.Client().ApplyURI(uri.reveal()), "shardboard", o.Timeout, o.Dialer)
	opts.SetMonitor(o.Monitor)
	// The driver would retry any command that an overloaded server rejected, including
	// changing ones.
	return opts.SetMaxAdaptiveRetries(0)
}
