package operation

import (
	"testing"
)

func TestChunkSizeOfAFactIsRead(t *testing.T) {
	for bytes, want := range map[int64]int{0: 0, 1 << 20: 1, 64 << 20: 64, 1 << 30: 1024, 1<<20 + 1: -1, 1 << 31: -1} {
		got, ok := chunkMB(chunkSizeText(bytes))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%d as %q: %d, want %d", bytes, chunkSizeText(bytes), got, want)
		}
	}
}
