package keys

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// The amounts and units are those of the published advice, for chunks of 64 MB and of 128 MB.
func TestUnitOfCoarseTimeIsThePublishedOne(t *testing.T) {
	const gb, month = 1 << 30, 30 * 24 * time.Hour
	for bytes, want := range map[int64]Unit{30 * gb: Month, gb: Year, 500 * gb: Day} {
		for _, chunk := range []int64{64 << 20, 128 << 20} {
			expect.Equal(t, UnitFor(bytes, month, chunk), want, "%d GB a month, chunks of %d MB", bytes/gb, chunk>>20)
		}
	}
}

func TestGrowthPutsMoreRowsAtTheEnd(t *testing.T) {
	m := Model{Collection: "clients", Projects: 1, Rows: 1000, RowBytes: 1, Growth: 9, Start: time.Unix(0, 0), Span: 1000 * time.Second}
	// With nine times the rate at the end, (0.5 + 8·0.125) / 5 of the rows come in the first half.
	first := 0
	for i := range m.Rows {
		if m.at(i, m.Rows).Before(m.Start.Add(m.Span / 2)) {
			first++
		}
	}
	expect.Equal(t, first, 300, "of 1000 rows come in the first half")
}

func TestExtraFieldsAreMadeAtTheTimeOfTheRow(t *testing.T) {
	start := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	values := func() (out []bson.D) {
		m := Model{Collection: "clients", Projects: 1, Rows: 100, RowBytes: 1, Start: start, Span: time.Hour,
			Extra: Extra{Fields: ExtraFields(), Unit: Day, Seed: 3}}
		must.Do(t, m.Each(func(row bson.D) error { out = append(out, row); return nil }))
		return out
	}
	rows := values()
	if !slices.EqualFunc(rows, values(), func(a, b bson.D) bool { return row(a).String() == row(b).String() }) {
		t.Error("the same model makes other rows")
	}
	seen := map[string]bool{}
	for i, r := range rows {
		doc := row(r)
		if at := doc.Lookup(Coarse).Time().UTC(); at != time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC) {
			t.Fatalf("coarse time of row %d: %s", i, at)
		}
		for _, f := range []string{LocalityDefault, LocalitySequential, UUID4, UUID7} {
			_, id := doc.Lookup(f).Binary()
			if version := id[6] >> 4; version != map[string]byte{UUID4: 4, UUID7: 7, LocalityDefault: 0xb, LocalitySequential: 0xb}[f] {
				t.Fatalf("%s of row %d has the version %x", f, i, version)
			}
			if f != UUID4 {
				ms := id[:6]
				if f != UUID7 {
					ms = id[10:]
				}
				at := int64(0)
				for _, b := range ms {
					at = at<<8 | int64(b)
				}
				if want := start.UnixMilli() + int64(i)*36_000; at < want-1 || at > want { // rounded down
					t.Fatalf("%s of row %d is of %d ms, expected %d", f, i, at, want)
				}
			}
			must.That(t, !seen[string(id)], "%s of row %d comes twice", f, i)
			seen[string(id)] = true
		}
	}
}
