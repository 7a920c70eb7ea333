package store

import "context"

// Settings stores small JSON texts by name.
type Settings interface {
	// Setting returns a value; fault.NotFound when it was never set.
	Setting(ctx context.Context, name string) (string, error)
	// SetSetting replaces a value.
	SetSetting(ctx context.Context, name, value string) error
}
