package answer

import (
	"sync"
	"time"

	"shardboard/internal/topology"
)

// Kept remembers what the answers from the newest routing table have in common, so that a page costs what it shows and
// not all that the table has. Safe for concurrent use.
type Kept struct {
	mu     sync.Mutex
	built  time.Time // of the tables that it knows
	values map[keptKey]func() any
}

// keptKey is a result: which one, of the table as a class of people sees it.
type keptKey struct {
	of   *topology.Table
	what any
}

// mostKept bounds what requests can ask for by the names of shards: beyond it everything is made anew.
const mostKept = 24

// OncePerTable is what compute makes of the view's table alone, computed once for each table. The result is shared:
// read only.
func OncePerTable[T any](v View, what any, compute func() T) T {
	if v.Kept == nil || v.Past != nil {
		return compute()
	}
	return v.Kept.value(v.Table, what, func() any { return compute() })().(T)
}

func (k *Kept) value(t *topology.Table, what any, compute func() any) func() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keptKey{t, what}
	if value := k.values[key]; value != nil {
		return value
	}
	value := sync.OnceValue(compute)
	if t.Built.Before(k.built) { // of a request that began before
		return value
	}
	if t.Built.After(k.built) || k.values == nil || len(k.values) >= mostKept {
		k.built, k.values = t.Built, map[keptKey]func() any{}
	}
	k.values[key] = value
	return value
}

// Drop forgets everything.
func (k *Kept) Drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values = nil
}
