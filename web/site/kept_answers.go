package site

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Bounds of the answers that are kept.
const (
	keptAnswersMost  = 512
	keptAnswersBytes = 16 << 20 // uncompressed
)

// keptAnswers are finished answers of routes with a State, the last used ones. Its key has
// the state, so an outdated answer is never found again. The zero value keeps none yet.
type keptAnswers struct {
	mu    sync.Mutex
	list  *simplelru.LRU[string, *response]
	bytes int
}

func (k *keptAnswers) get(key string) *response {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		return nil
	}
	out, _ := k.list.Get(key)
	return out
}

func (k *keptAnswers) put(key string, a *response) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		k.list, _ = simplelru.NewLRU(keptAnswersMost, func(_ string, a *response) { k.bytes -= a.body.Len() }) // fails for no room only
	}
	k.list.Remove(key)
	k.list.Add(key, a)
	k.bytes += a.body.Len()
	for k.bytes > keptAnswersBytes && k.list.Len() > 1 {
		k.list.RemoveOldest()
	}
}
