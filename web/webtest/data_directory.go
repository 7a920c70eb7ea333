package webtest

import (
	"context"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// DataDirectory is a data directory whose condition a test sets.
type DataDirectory struct {
	Now   store.Condition
	Taken []string // who has taken it over
	Err   error    // of taking it over
}

func (d *DataDirectory) Condition() store.Condition { return d.Now }

func (d *DataDirectory) TakeOver(_ context.Context, by auth.Principal) error {
	if d.Err == nil {
		d.Taken = append(d.Taken, by.ID)
	}
	return d.Err
}

func (d *DataDirectory) Of(deps *site.Deps) { deps.Store.Data = d }

// WithDataHeld is an option of New: who holds the data directory.
func WithDataHeld(h store.Hold) func(*site.Deps) {
	d := &DataDirectory{Now: store.Condition{Hold: h, Since: Epoch}}
	if h != store.Owned {
		d.Now.Err = fault.New(fault.Unavailable, "It is %s.", h)
	}
	return d.Of
}
