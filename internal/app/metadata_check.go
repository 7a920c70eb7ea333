package app

import (
	"context"
	"errors"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// CheckMetadata connects, lets the server check its metadata, and disconnects.
func CheckMetadata(ctx context.Context, c Config, in api.MetadataCheckStart) (found api.MetadataCheck, err error) {
	client, err := connect(ctx, c.cluster())
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, client.Close(context.WithoutCancel(ctx))) }()
	server, err := client.Server(ctx)
	if err != nil {
		return found, err
	}
	v := answers.View{Table: &topology.Table{ServerInfo: server}, Now: time.Now()}
	return data.CheckMetadata(ctx, v, client, in)
}
