package store

import "context"

// Settings keeps values that an admin chose, by name: small JSON texts.
type Settings interface {
	// Setting gives a value; fault.NotFound when it was never set.
	Setting(ctx context.Context, name string) (string, error)
	// SetSetting replaces a value.
	SetSetting(ctx context.Context, name, value string) error
}
