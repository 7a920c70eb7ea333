package spread

import (
	"testing"
)

func TestManyShardsAreCountedInASentence(t *testing.T) {
	few := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	if got := ShardWords(few); got != "a, b, c, d, e, f, g and h" {
		t.Error(got)
	}
	if got := ShardWords(append(few, "i")); got != "9 shards" {
		t.Error(got)
	}
}
