package answer

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Hidden is what a class of people does not see. Everything that is the same for
// many, such as live fragments, answers with an ETag and remembered tables, is
// made once for each class. The zero value hides nothing.
type Hidden struct {
	Texts  bool // what servers wrote: it may hold key values and host names
	Bounds bool // chunk bounds and whatever else is a shard-key value
}

// Computable is the view with nothing hidden, for computations whose input is not
// shown to the reader.
func (v View) Computable() View {
	if v.Whole != nil {
		return *v.Whole
	}
	return v
}

// HideAnswers takes servers' texts out of what commands of runs were answered.
func HideAnswers(runs []history.OurRun) []history.OurRun {
	out := make([]history.OurRun, len(runs))
	for i, r := range runs {
		r.Error = HideText(r.Error)
		out[i] = r
	}
	return out
}

// HiddenTables makes tables as classes of people see them, and keeps the newest
// of each class. Safe for concurrent use.
type HiddenTables struct {
	Hiding *shardkey.Hiding

	mu     sync.Mutex
	kept   map[Hidden]hiddenTable
	events struct{ of, as []topology.Event } // log entries, which most tables share with the one before
}

type hiddenTable struct{ of, as *topology.Table }

// NewHiddenTables makes them with a key of their own for naming hidden values.
func NewHiddenTables() *HiddenTables {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &HiddenTables{Hiding: &shardkey.Hiding{Text: shardkey.HiddenText, Name: opaque(key)}, kept: map[Hidden]hiddenTable{}}
}

// opaque names values by a keyed hash: without the key, which dies with the
// process, a guessed value cannot be compared with a name.
func opaque(key []byte) func(string) string {
	return func(value string) string {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(value)) // a hash does not fail
		return hex.EncodeToString(mac.Sum(nil)[:8])
	}
}

// Of is a table as a class sees it; keep is for the newest one, which many ask for.
func (k *HiddenTables) Of(t *topology.Table, h Hidden, keep bool) *topology.Table {
	if !keep {
		return k.make(t, h, HideInEvents)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if kept := k.kept[h]; kept.of == t {
		return kept.as
	}
	as := k.make(t, h, k.newestEvents)
	k.kept[h] = hiddenTable{of: t, as: as}
	return as
}

// newestEvents hides texts in the log once for all tables that have the same one.
func (k *HiddenTables) newestEvents(events []topology.Event) []topology.Event {
	same := len(events) == len(k.events.of) && (len(events) == 0 || &events[0] == &k.events.of[0])
	if !same {
		k.events.of, k.events.as = events, HideInEvents(events)
	}
	return k.events.as
}

func (k *HiddenTables) make(t *topology.Table, h Hidden, hide func([]topology.Event) []topology.Event) *topology.Table {
	next := *t
	if h.Texts {
		next.Events = hide(t.Events)
	}
	if h.Bounds {
		return next.Hide(k.Hiding)
	}
	return &next
}

// MayNameKeys refuses to look up a key where the answer would show hidden bounds.
func MayNameKeys(v View) error {
	if v.Hidden.Bounds {
		return fault.New(fault.Forbidden,
			"Looking up a key shows chunk bounds, which are key values. On this server that needs the role support.")
	}
	return nil
}

// MayNameChunks refuses the page of a chunk where bounds are hidden.
func MayNameChunks(v View) error {
	if v.Hidden.Bounds {
		return fault.New(fault.Forbidden,
			"The page of a chunk shows its bounds, which are key values. On this server that needs the role support.")
	}
	return nil
}
