package main

import (
	"os"

	"shardboard/internal/app"
)

// remoteFlags select the server that a command uses. The token has no flag, because everybody on
// the machine can read command lines.
type remoteFlags struct {
	Server  string `default:"http://127.0.0.1:8090" env:"SHARDBOARD_SERVER" help:"Address of the running server. A token for it is read from SHARDBOARD_TOKEN, or from the file that SHARDBOARD_TOKEN_FILE names."`
	Cluster string `name:"cluster" env:"SHARDBOARD_CLUSTER" placeholder:"NAME" help:"Which cluster, of a server of several. An address that ends in /c/NAME says it too."`
}

func (f remoteFlags) remote() (app.Remote, error) {
	r, err := app.ReadRemote(f.Server, os.Getenv("SHARDBOARD_TOKEN"), os.Getenv("SHARDBOARD_TOKEN_FILE"))
	if err != nil {
		return r, err
	}
	return r.Of(f.Cluster)
}
