package clustermap_test

import (
	"fmt"
	"testing"
)

// BenchmarkTileAfterAChange is a change to one chunk and the tile that follows from it, which
// is what a browser and the server do ten times a second. Compare the sizes: the aim is that
// a million chunks cost at most twice what 10,000 cost.
func BenchmarkTileAfterAChange(b *testing.B) {
	for _, level := range []int{0, 6} {
		for _, n := range []int{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("level=%d/chunks=%d", level, n), func(b *testing.B) {
				s := withChunks(b, n)
				s.Do("GET", tileURL(level, 0, 512))
				position := n >> level / 2
				for b.Loop() {
					b.StopTimer()
					moveOne(b, s, position)
					b.StartTimer()
					if w := s.Do("GET", tileURL(level, 0, 512)); w.Code != 200 {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
