package mongodb

import (
	"context"
)

// sealRows is schema 3: programs that do not seal what they write must not write any more. Seals come with the key.
func sealRows(context.Context, *DB) error { return nil }
