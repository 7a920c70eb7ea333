package records

import (
	"cmp"
	"context"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// ReadRows calls f for every row of a table in the order of its key, for a copy.
func ReadRows(ctx context.Context, from Reader, t store.Table, f func(store.Row) error) error {
	var failed error
	err := from.Find(ctx, Query{Table: t, Order: t.Key, Strict: true}, func(row store.Row) bool {
		failed = f(row)
		return failed == nil
	})
	return cmp.Or(failed, err)
}

// MustBeEmpty refuses a store, named place, that has a row already.
func MustBeEmpty(ctx context.Context, in Reader, place string) error {
	for _, t := range store.Tables() {
		some := false
		err := in.Find(ctx, Query{Table: t, Limit: 1, Strict: true}, func(store.Row) bool { some = true; return false })
		if err != nil {
			return err
		}
		if some {
			return fault.New(fault.Conflict, "%s holds data already (%s), so nothing is copied into it.", place, t.Name)
		}
	}
	return nil
}
