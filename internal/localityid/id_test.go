package localityid

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func parse(t testing.TB, text string) (id ID) {
	t.Helper()
	digits := strings.ReplaceAll(text, "-", "")
	must.That(t, len(digits) == 32, "%q has %d digits", text, len(digits))
	for i := range id {
		for _, c := range digits[2*i : 2*i+2] {
			id[i] = id[i]<<4 | byte(strings.IndexRune("0123456789abcdef", c))
		}
	}
	return id
}

func TestThePublishedIDIsDecodedAsPublished(t *testing.T) {
	id := parse(t, "20be0ffc-314a-bd53-7a50-013a65ca76d2")
	f := id.Fields()
	if Reversed(f.Counter) != 3_488_672_514 || f.Process != 12_618 || f.MACText() != "__:__:_d:53:7a:50" ||
		f.Milliseconds != 1_350_327_498_450 {
		t.Errorf("%+v, counter %d", f, Reversed(f.Counter))
	}
	expect.Equal(t, id.Time().Format("2006-01-02 15:04:05.000 MST"), "2012-10-15 18:58:18.450 UTC", "the time")
	if _, n, ok := id.SequentialSince(); ok {
		t.Errorf("an id of the default mode counts as number %d of a window", n)
	}
	if !id.IsLocality(time.Date(2012, 10, 16, 0, 0, 0, 0, time.UTC)) || id.IsLocality(time.Date(2012, 10, 14, 0, 0, 0, 0, time.UTC)) {
		t.Error("an id of the future is a locality UUID, or one of the past is none")
	}
}

// The fifth published id does not follow from the same step, so four are held.
func TestTheDefaultModeMakesThePublishedIDs(t *testing.T) {
	published := []string{"c8c9cef9-7a7f-bd53-7a50-013e4e2afbde", "14951cfa-7a7f-bd53-7a50-013e4e2afbde",
		"6f5169fb-7a7f-bd53-7a50-013e4e2afbde", "ba2da6fc-7a7f-bd53-7a50-013e4e2afbde"}
	first := parse(t, published[0]).Fields()
	g := NewGenerator(Options{Process: first.Process, MAC: first.MAC, Counter: Reversed(first.Counter) - Step,
		Now: func() time.Time { return time.UnixMilli(first.Milliseconds) }})
	for _, want := range published {
		expect.Equal(t, g.Next().String(), want, "the next id")
	}
}

func TestSequentialModeMakesThePublishedIDs(t *testing.T) {
	published := []string{"f5166777-7a7f-bd53-7a50-013e4e2afc26", "f5166778-7a7f-bd53-7a50-013e4e2afc26",
		"f5166779-7a7f-bd53-7a50-013e4e2afc26", "f516677a-7a7f-bd53-7a50-013e4e2afc26", "f516677b-7a7f-bd53-7a50-013e4e2afc26"}
	first := parse(t, published[0]).Fields()
	g := NewGenerator(Options{Mode: Sequential, Process: first.Process, MAC: first.MAC,
		Now: func() time.Time { return time.UnixMilli(first.Milliseconds) }})
	g.Next() // the publication begins with the second id of its window
	for i, want := range published {
		id := g.Next()
		expect.Equal(t, id.String(), want, "the id")
		window, n, ok := id.SequentialSince()
		if !ok || n != i+2 || window.Format("2006-01-02 15:04") != "2013-04-28 01:00" {
			t.Errorf("%s is number %d of the window of %s, %t", id, n, window, ok)
		}
	}
}

func TestFieldsAreWhatTheIDWasMadeOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fields{Counter: rapid.Uint32().Draw(t, "counter"), Process: rapid.Uint16().Draw(t, "process"),
			MAC:          rapid.Uint32Range(0, MaxMAC).Draw(t, "mac"),
			Milliseconds: rapid.Int64Range(0, MaxMilliseconds).Draw(t, "milliseconds")}
		id := Of(f)
		if got := id.Fields(); got != f || Reversed(Reversed(f.Counter)) != f.Counter {
			t.Fatalf("%+v became %+v", f, got)
		}
		if text := id.String(); text[14] != 'b' || len(text) != 36 {
			t.Fatalf("%s has another layout", text)
		}
	})
}
