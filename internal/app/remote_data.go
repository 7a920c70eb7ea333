package app

import (
	"context"

	"shardboard/internal/api"
)

// TakeOver makes a read-only server the owner of the data directory after its owner has ended.
func (r Remote) TakeOver(ctx context.Context) error {
	var now api.DataDirectory
	return r.Do(ctx, "POST", api.Prefix+"/data/takeover", nil, &now)
}
