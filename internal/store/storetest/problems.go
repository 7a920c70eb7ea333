package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func problemHistory(t *testing.T, open func(*testing.T) store.Store) {
	at := func(minute int) time.Time { return begin().Add(time.Duration(minute) * time.Minute) }
	one := func(id string, since, until int, body string) store.ProblemRecord {
		r := store.ProblemRecord{ID: id, Since: at(since), Body: []byte(body)}
		if until > 0 {
			r.Until = at(until)
		}
		return r
	}
	t.Run("ProblemsAreFoundByTheTimeInWhichTheyLasted", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.SaveProblems(ctx, "c", []store.ProblemRecord{one("a", 1, 0, "mild"), one("b", 2, 4, "short"), one("a", 10, 0, "again")}))
		must.Do(t, s.SaveProblems(ctx, "c", []store.ProblemRecord{one("a", 1, 6, "worse")}))
		must.Do(t, s.SaveProblems(ctx, "other", []store.ProblemRecord{one("a", 1, 6, "theirs")}))
		for _, c := range []struct {
			name     string
			from, to time.Time
			want     []store.ProblemRecord
		}{
			{"all", time.Time{}, time.Time{}, []store.ProblemRecord{one("a", 10, 0, "again"), one("b", 2, 4, "short"), one("a", 1, 6, "worse")}},
			{"at one time", at(3), at(3), []store.ProblemRecord{one("b", 2, 4, "short"), one("a", 1, 6, "worse")}},
			{"ends count", at(6), at(9), []store.ProblemRecord{one("a", 1, 6, "worse")}},
			{"between", at(7), at(9), nil},
			{"what lasts", at(100), time.Time{}, []store.ProblemRecord{one("a", 10, 0, "again")}},
		} {
			got := must.Get(s.ProblemRecords(ctx, "c", c.from, c.to))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
		}
		must.Do(t, s.TrimProblems(ctx, "c", at(5)))
		got := must.Get(s.ProblemRecords(ctx, "c", time.Time{}, time.Time{}))
		if d := cmp.Diff([]store.ProblemRecord{one("a", 10, 0, "again"), one("a", 1, 6, "worse")}, got); d != "" {
			t.Errorf("trimmed: %s", d)
		}
	})
	t.Run("ASpanEndsWithAPauseOrWithOtherThingsUnchecked", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		for _, n := range []struct {
			minute int
			body   string
		}{{0, "x"}, {1, "x"}, {2, "y"}, {3, "y"}, {9, "y"}} {
			must.Do(t, s.NoteJudged(ctx, "c", at(n.minute), 2*time.Minute, []byte(n.body)))
		}
		span := func(from, to int, body string) store.JudgedSpan {
			return store.JudgedSpan{From: at(from), To: at(to), Body: []byte(body)}
		}
		got := must.Get(s.JudgedSpans(ctx, "c", time.Time{}, time.Time{}))
		if d := cmp.Diff([]store.JudgedSpan{span(0, 2, "x"), span(2, 3, "y"), span(9, 9, "y")}, got); d != "" {
			t.Error(d)
		}
		must.Do(t, s.TrimProblems(ctx, "c", at(3)))
		if got, err := s.JudgedSpans(ctx, "c", at(3), at(8)); err != nil || len(got) != 1 {
			t.Errorf("trimmed: %+v, %v", got, err)
		}
	})
}
