package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func holdings(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("SamplesOfCollectionsAreReplacedListedByNameAndDropped", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		one := func(ns string, minute int, body string) store.Holding {
			return store.Holding{NS: ns, At: begin().Add(time.Duration(minute) * time.Minute), Body: []byte(body)}
		}
		must.Do(t, s.SaveHolding(ctx, "c", one("db.b", 1, "old")))
		must.Do(t, s.SaveHolding(ctx, "c", one("db.a", 2, "a")))
		must.Do(t, s.SaveHolding(ctx, "c", one("db.b", 3, "new")))
		must.Do(t, s.SaveHolding(ctx, "other", one("db.c", 4, "theirs")))
		got := must.Get(s.LoadHoldings(ctx, "c"))
		if d := cmp.Diff([]store.Holding{one("db.a", 2, "a"), one("db.b", 3, "new")}, got); d != "" {
			t.Error(d)
		}
		must.Do(t, s.DropHolding(ctx, "c", "db.b"))
		must.Do(t, s.DropHolding(ctx, "c", "db.b"))
		if got, err := s.LoadHoldings(ctx, "c"); err != nil || len(got) != 1 {
			t.Errorf("%v, %v after a drop", got, err)
		}
		if got, err := s.LoadHoldings(ctx, "other"); err != nil || len(got) != 1 {
			t.Errorf("%v, %v of another cluster", got, err)
		}
	})
}
