package engine

import (
	"iter"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// After iterates over what was inserted after a record, in order of insertion; do not change the collection meanwhile.
func (c *Coll) After(id RecordID) iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		c.records.AscendGreaterOrEqual(&record{id: id + 1}, func(r *record) bool { return yield(r.id, r.doc) })
	}
}

// Has tells whether a record is still there.
func (c *Coll) Has(id RecordID) bool { return c.record(id) != nil }

// Grown is closed at the next insert.
func (c *Coll) Grown() <-chan struct{} {
	c.growth.mu.Lock()
	defer c.growth.mu.Unlock()
	if c.growth.next == nil {
		c.growth.next = make(chan struct{})
	}
	return c.growth.next
}

// growth tells those who wait for an insert.
type growth struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

func (g *growth) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next != nil {
		close(g.next)
		g.next = nil
	}
}
