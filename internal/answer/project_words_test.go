package answer

import "testing"

func TestManyShardsAreCountedInASentence(t *testing.T) {
	few := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	if got := shardWords(few); got != "a, b, c, d, e, f, g and h" {
		t.Error(got)
	}
	if got := shardWords(append(few, "i")); got != "9 shards" {
		t.Error(got)
	}
}
