package main

import (
	"os"

	"shardboard/internal/app"
)

// remoteFlags say which running server a command asks. The token has no flag:
// everybody on the machine can read a command line.
type remoteFlags struct {
	Server string `default:"http://127.0.0.1:8090" env:"SHARDBOARD_SERVER" help:"Address of the running server. A token for it is read from SHARDBOARD_TOKEN, or from the file that SHARDBOARD_TOKEN_FILE names."`
}

func (f remoteFlags) remote() (app.Remote, error) {
	return app.ReadRemote(f.Server, os.Getenv("SHARDBOARD_TOKEN"), os.Getenv("SHARDBOARD_TOKEN_FILE"))
}
