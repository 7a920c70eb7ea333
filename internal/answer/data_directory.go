package answer

import (
	"context"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// DataDirectory is where everything is stored: whether this process may write to
// it, and how it becomes the owner.
type DataDirectory interface {
	Condition() store.Condition
	// TakeOver makes this process the owner after the one before has ended, and
	// returns when pages are served by the owner. Errors: fault.Conflict (there is an
	// owner), Unavailable (lost, or not possible now).
	TakeOver(ctx context.Context, by auth.Principal) error
}

func DataWire(c store.Condition) api.DataDirectory {
	out := api.DataDirectory{Hold: string(c.Hold), Writable: c.Hold == store.Owned, Since: api.Time(c.Since)}
	if c.Err != nil {
		out.Why = fault.Text(c.Err)
	}
	return out
}
