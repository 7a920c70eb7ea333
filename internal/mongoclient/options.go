// Package mongoclient has what all clients of MongoDB here have in common: defaults for what an address
// leaves open, a driver that logs nothing, and connections whose answers belong to their requests. Each
// part of the program that needs a client makes its own.
package mongoclient

import (
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// poolSize is the most connections to one server, unless the address says otherwise.
const poolSize = 20

// Complete adds to the options of an address what it leaves open. name is what the server's log shows,
// timeout bounds finding a server and connecting to it. A nil dialer is TCP.
func Complete(o *options.ClientOptions, name string, timeout time.Duration, dialer options.ContextDialer) *options.ClientOptions {
	o.Timeout = nil // deadlines are set per call; one for all would cut long commands such as moveChunk
	if o.AppName == nil {
		o.SetAppName(name)
	}
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(timeout)
	}
	if o.ConnectTimeout == nil {
		o.SetConnectTimeout(timeout)
	}
	if o.MaxPoolSize == nil {
		o.SetMaxPoolSize(poolSize)
	}
	if dialer != nil {
		// A streaming monitor always has a pending read, which prevents a synctest clock from advancing.
		o.SetDialer(dialer).SetServerMonitoringMode("poll")
	}
	if o.Dialer == nil {
		o.SetDialer(&net.Dialer{})
	}
	if o.TLSConfig == nil { // with TLS nothing can be repeated
		o.SetDialer(inOrder{o.Dialer})
	}
	// Environment variables (MONGODB_LOG_COMMAND, MONGODB_LOG_ALL) could make the driver log commands,
	// which have user data and hashes of passwords.
	const never = options.LogLevel(0)
	return o.SetLoggerOptions(options.Logger().SetComponentLevel(options.LogComponentAll, never).
		SetComponentLevel(options.LogComponentCommand, never))
}
