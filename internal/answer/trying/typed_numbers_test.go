package trying

import (
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

func TestSizesAreReadAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "1": 1, "1048576": 1 << 20, "500GB": 500e9, "1.5TiB": 3 << 39, " 20 mb ": 20e6, "7B": 7,
		"0.5kb": 500} {
		if got, err := typedBytes(url.Values{"rate": {text}}, "rate"); err != nil || got != want {
			t.Errorf("%q: %d, %v; expected %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "x", "1 ZB", "NaN", "Inf", "1e300", "0.1B", "GB"} {
		if got, err := typedBytes(url.Values{"rate": {text}}, "rate"); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestWrittenSizesAreReadAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<53).Draw(t, "n")
		if unit := rapid.SampledFrom([]int64{1, 1e6, 1 << 20, 1e9, 1 << 30, 1e12}).Draw(t, "unit"); n > unit {
			n -= n % unit
		}
		if got, err := typedBytes(url.Values{"rate": {BytesTyped(n)}}, "rate"); err != nil || got != n {
			t.Fatalf("%d is written as %s and read as %d, %v", n, BytesTyped(n), got, err)
		}
	})
}
