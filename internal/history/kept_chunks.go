package history

import (
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Bounds of the chunk maps that are kept. One may be as large as many.
const (
	keptMaps   = 32
	keptChunks = 1_000_000
)

// keptChunkMaps are the chunk maps of past times that were built last, by the last entry that
// each is made of. Playing the past back then costs what changed from one time to the next:
// a map shares all else with the one before. The zero value keeps none yet.
type keptChunkMaps struct {
	mu   sync.Mutex
	maps *simplelru.LRU[int64, *topology.ChunkMap]
}

// newest is the map of the last of the entries that one is kept of, and the entries that
// follow it; nil if none is kept.
func (k *keptChunkMaps) newest(entries []store.HistoryEntry) (*topology.ChunkMap, []store.HistoryEntry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.maps == nil {
		return nil, entries
	}
	for i, e := range slices.Backward(entries) {
		if m, ok := k.maps.Get(e.Seq); ok {
			return m, entries[i+1:]
		}
	}
	return nil, entries
}

// put keeps a map under the last entry that it is made of.
func (k *keptChunkMaps) put(seq int64, m *topology.ChunkMap) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.maps == nil {
		k.maps, _ = simplelru.NewLRU[int64, *topology.ChunkMap](keptMaps, nil) // fails for no room only
	}
	k.maps.Add(seq, m)
	total := 0
	for _, kept := range k.maps.Values() {
		total += kept.Len()
	}
	for k.maps.Len() > 1 && total > keptChunks {
		_, oldest, _ := k.maps.RemoveOldest()
		total -= oldest.Len()
	}
}
