package answer

import (
	"testing"

	"shardboard/internal/answer/spread"
)

func TestManyShardsAreCountedInASentence(t *testing.T) {
	few := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	if got := spread.ShardWords(few); got != "a, b, c, d, e, f, g and h" {
		t.Error(got)
	}
	if got := spread.ShardWords(append(few, "i")); got != "9 shards" {
		t.Error(got)
	}
}
