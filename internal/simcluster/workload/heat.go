package workload

import "math/rand/v2"

const (
	hotDocuments = 40   // number of frequently edited documents
	hotPushes    = 0.7  // share of the pushes that go to them
	driftChance  = 0.08 // per tick: one hot document is replaced
)

// heat chooses the Yorkie documents to edit: mostly from a small, skewed hot set that
// changes over time, sometimes any other document.
type heat struct {
	docs []*document // all that may be edited
	hot  []*document
}

func newHeat(docs []*document, r *rand.Rand) *heat {
	h := &heat{docs: docs}
	for range min(hotDocuments, len(docs)) {
		h.hot = append(h.hot, docs[h.recent(r)])
	}
	return h
}

// recent draws an index, preferring the newest documents.
func (h *heat) recent(r *rand.Rand) int {
	return r.IntN(min(len(h.docs), hotCandidates))
}

// pick draws the next document to edit; nil when there is none.
func (h *heat) pick(r *rand.Rand) *document {
	if len(h.docs) == 0 {
		return nil
	}
	if r.Float64() < hotPushes {
		// Squaring prefers the first documents of the hot set.
		f := r.Float64()
		return h.hot[int(f*f*float64(len(h.hot)))]
	}
	return h.docs[r.IntN(len(h.docs))]
}

// drift replaces one hot document with probability driftChance.
func (h *heat) drift(r *rand.Rand, docs []*document) {
	h.docs = docs
	if len(h.hot) > 0 && r.Float64() < driftChance {
		h.hot[r.IntN(len(h.hot))] = h.docs[r.IntN(len(h.docs))]
	}
}
