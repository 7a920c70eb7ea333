package main

import (
	"os"

	"shardboard/internal/app"
)

// remoteFlags select the server that a command uses. The token has no flag, because everybody on
// the machine can read command lines.
type remoteFlags struct {
	Server string `default:"http://127.0.0.1:8090" env:"SHARDBOARD_SERVER" help:"Address of the running server. A token for it is read from SHARDBOARD_TOKEN, or from the file that SHARDBOARD_TOKEN_FILE names."`
}

func (f remoteFlags) remote() (app.Remote, error) {
	return app.ReadRemote(f.Server, os.Getenv("SHARDBOARD_TOKEN"), os.Getenv("SHARDBOARD_TOKEN_FILE"))
}
