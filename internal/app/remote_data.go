package app

import (
	"context"

	"shardboard/internal/api"
)

// TakeOver lets a server that only reads own the data directory, when its owner
// has ended.
func (r Remote) TakeOver(ctx context.Context) error {
	var now api.DataDirectory
	return r.Do(ctx, "POST", api.Prefix+"/data/takeover", nil, &now)
}
