package workload

import "math/rand/v2"

const (
	hotDocuments = 40   // edited far more than the rest
	hotPushes    = 0.7  // share of the pushes that go to them
	driftChance  = 0.08 // per tick: one hot document cools, another heats up
)

// heat decides which Yorkie documents are edited: a small hot set, itself
// skewed, which drifts over time, and now and then any other.
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

// recent draws an index that favours the newest documents.
func (h *heat) recent(r *rand.Rand) int {
	return r.IntN(min(len(h.docs), hotCandidates))
}

// pick draws the next document to edit; nil when there is none.
func (h *heat) pick(r *rand.Rand) *document {
	if len(h.docs) == 0 {
		return nil
	}
	if r.Float64() < hotPushes {
		// Squaring makes the first of the hot set the hottest.
		f := r.Float64()
		return h.hot[int(f*f*float64(len(h.hot)))]
	}
	return h.docs[r.IntN(len(h.docs))]
}

// drift now and then replaces one hot document.
func (h *heat) drift(r *rand.Rand, docs []*document) {
	h.docs = docs
	if len(h.hot) > 0 && r.Float64() < driftChance {
		h.hot[r.IntN(len(h.hot))] = h.docs[r.IntN(len(h.docs))]
	}
}
