package natural_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/natural"
)

func TestNamesAreOrderedAsPeopleReadThem(t *testing.T) {
	for name, want := range map[string][]string{
		"number at the end":        {"shard-rs-1", "shard-rs-2", "shard-rs-10", "shard-rs-100"},
		"number in the middle":     {"rs2-eu", "rs2-us", "rs10-eu"},
		"several numbers":          {"a2b3", "a2b10", "a10b1"},
		"more digits than int64":   {"n9", "n99999999999999999999999998", "n99999999999999999999999999"},
		"leading zeros":            {"rs1", "rs02", "rs2", "rs003", "rs3", "rs10"},
		"all zeros":                {"z0", "z00", "z0a"},
		"a prefix comes first":     {"", "rs", "rs-", "rs1", "rsa"},
		"digits before letters":    {"a1", "aB", "ab"},
		"characters beyond ASCII":  {"schlüssel-2", "schlüssel-10", "샤드-2", "샤드-10"},
		"digits of another script": {"rs-1", "rs-٣", "rs-٣٠"},
		"bytes that are no text":   {"rs-2", "rs-10", "rs-\xfe", "rs-\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.Clone(want)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			if natural.Sort(got); !slices.Equal(got, want) {
				t.Errorf("sorted: %q, want %q", got, want)
			}
		})
	}
}

// Binary searches and cursors need a total order.
func TestOrderIsTotal(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"0", "00", "1", "9", "10", "a", "-", "é", "\xff", "."}), 0, 5).
			Draw(t, "parts"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, c := name.Draw(t, "a"), name.Draw(t, "c")
		zero := rapid.Map(rapid.IntRange(0, len(a)), func(i int) string { return a[:i] + "0" + a[i:] })
		b := rapid.OneOf(name, zero).Draw(t, "b") // names often differ in a leading zero only
		must.That(t, natural.Compare(a, b) == -natural.Compare(b, a), "%q and %q: not opposite in the other order", a, b)
		must.That(t, (natural.Compare(a, b) == 0) == (a == b), "%q and %q: equal only if the same", a, b)
		if natural.Compare(a, b) <= 0 && natural.Compare(b, c) <= 0 && natural.Compare(a, c) > 0 {
			t.Fatalf("%q ≤ %q ≤ %q, but the first is after the last", a, b, c)
		}
	})
}

func TestSortedCollectsNames(t *testing.T) {
	expect.EqualSlices(t, natural.Sorted(slices.Values([]string{"b", "a10", "a9"})), []string{"a9", "a10", "b"}, "sorted")
}
