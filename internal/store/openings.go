package store

import "context"

// InstallationSetting is the setting with the id that all processes of one store have in common, and no others. It is
// not copied to another store.
const InstallationSetting = "installation"

// Openings tells the processes that have the store open from those that had.
type Openings interface {
	// Opening is the random id of this opening of the store.
	Opening() string
	// Living are the ids of the openings whose processes are known to live, this one included.
	Living(ctx context.Context) ([]string, error)
}
