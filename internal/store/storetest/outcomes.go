package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func runOutcomes(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("OutcomesAreReplacedAndFoundByRunAndWhileOpen", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		one := func(run string, minute int, open bool, body string) store.RunOutcome {
			return store.RunOutcome{Run: run, At: begin().Add(time.Duration(minute) * time.Minute), Open: open, Body: []byte(body)}
		}
		must.Do(t, s.SaveRunOutcome(ctx, "c", one("b", 1, true, "before")))
		must.Do(t, s.SaveRunOutcome(ctx, "c", one("a", 1, true, "before")))
		must.Do(t, s.SaveRunOutcome(ctx, "c", one("z", 1, true, "before")))
		must.Do(t, s.SaveRunOutcome(ctx, "c", one("z", 2, false, "both")))
		must.Do(t, s.SaveRunOutcome(ctx, "other", one("a", 3, true, "theirs")))
		got := must.Get(s.OpenRunOutcomes(ctx, "c"))
		if d := cmp.Diff([]store.RunOutcome{one("a", 1, true, "before"), one("b", 1, true, "before")}, got); d != "" {
			t.Error(d)
		}
		ended := must.Get(s.RunOutcome(ctx, "c", "z"))
		if d := cmp.Diff(one("z", 2, false, "both"), ended); d != "" {
			t.Error(d)
		}
		wants(t, "the outcome of another cluster's run", must.Err(s.RunOutcome(ctx, "other", "z")), fault.NotFound)
	})
}
