package app

import (
	"context"
	"errors"

	"shardboard/internal/profile/propose"
	"shardboard/internal/topology"
)

// ProposeOptions narrow what Propose proposes.
type ProposeOptions = propose.Options

// Propose connects, loads the routing table once, proposes a profile from what is there, and disconnects.
func Propose(ctx context.Context, c Config, o ProposeOptions) (p propose.Proposal, err error) {
	client, err := connect(ctx, c.cluster())
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, client.Close(context.WithoutCancel(ctx))) }()
	c.Watcher.Log = c.Log
	watcher := topology.NewWatcher(client, c.Watcher)
	table, err := watcher.Load(ctx)
	if err != nil {
		return p, err
	}
	return propose.Read(ctx, client, table, o)
}
