package trying

import (
	"net/url"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/answer/param"
)

func TestWrittenSizesAreReadAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<53).Draw(t, "n")
		if unit := rapid.SampledFrom([]int64{1, 1e6, 1 << 20, 1e9, 1 << 30, 1e12}).Draw(t, "unit"); n > unit {
			n -= n % unit
		}
		var got int64
		if err := (param.List{param.Bytes(&got, "rate", "")}).Read(url.Values{"rate": {BytesTyped(n)}}); err != nil || got != n {
			t.Fatalf("%d is written as %s and read as %d, %v", n, BytesTyped(n), got, err)
		}
	})
}
