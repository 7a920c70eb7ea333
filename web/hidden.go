package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// hidden is what a class of people does not see. Everything that is the same for
// many, such as live fragments, answers with an ETag and remembered tables, is
// made once for each class. The zero value hides nothing.
type hidden struct {
	texts  bool // what servers wrote: it may hold key values and host names
	bounds bool // chunk bounds and whatever else is a shard-key value
}

// hiddenFrom is what somebody does not see. Servers' texts are for operators;
// bounds are for everybody, and from support on with --hide-bounds.
func (s *Site) hiddenFrom(who auth.Principal) hidden {
	return hidden{texts: !who.May(auth.Operator), bounds: s.deps.HideBounds && !who.May(auth.Support)}
}

// hiddenFromAny is what the least role does not see, for what goes to everybody.
func (s *Site) hiddenFromAny() hidden { return hidden{texts: true, bounds: s.deps.HideBounds} }

// viewFor is the newest state as far as whoever sent a request may see it.
func (s *Site) viewFor(r *http.Request) View {
	return s.hide(s.view(), s.hiddenFrom(auth.From(r.Context())))
}

// hide takes out of a view what somebody does not see, before any page, answer or
// fragment is made of it. Texts of servers are gone from its data. Bounds are
// still there for what is computed with them: the table's patterns and View's
// methods write them, and write instead that they are hidden.
func (s *Site) hide(v View, h hidden) View {
	if h == (hidden{}) || v.Hidden == h {
		return v
	}
	whole := v.computable()
	v = whole
	v.Hidden, v.whole = h, &whole
	v.Table = s.tables.of(v.Table, h, v.Past == nil)
	if runs := v.Runs; runs != nil && h.texts {
		v.Runs = func(from, to time.Time) []history.OurRun { return hideAnswers(runs(from, to)) }
	}
	if runs := v.FlightRuns; runs != nil && h.texts {
		v.FlightRuns = func() []history.OurRun { return hideAnswers(runs()) }
	}
	found := s.hideInProblems(whole.problems(), h)
	v.Found = &found
	return v
}

// computable is the view that nothing is hidden in, for what is computed and
// never written.
func (v View) computable() View {
	if v.whole != nil {
		return *v.whole
	}
	return v
}

// hideAnswers takes servers' texts out of what commands of runs were answered.
func hideAnswers(runs []history.OurRun) []history.OurRun {
	out := make([]history.OurRun, len(runs))
	for i, r := range runs {
		r.Error = hideText(r.Error)
		out[i] = r
	}
	return out
}

// hiddenTables makes tables as classes of people see them, and keeps the newest
// of each class. Safe for concurrent use.
type hiddenTables struct {
	hiding *shardkey.Hiding

	mu     sync.Mutex
	kept   map[hidden]hiddenTable
	events struct{ of, as []topology.Event } // log entries, which most tables share with the one before
}

type hiddenTable struct{ of, as *topology.Table }

func newHiddenTables() *hiddenTables {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &hiddenTables{hiding: &shardkey.Hiding{Text: words.T("hidden.bounds"), Name: opaque(key)}, kept: map[hidden]hiddenTable{}}
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

// of is a table as a class sees it; keep is for the newest one, which many ask for.
func (k *hiddenTables) of(t *topology.Table, h hidden, keep bool) *topology.Table {
	if !keep {
		return k.make(t, h, hideInEvents)
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
func (k *hiddenTables) newestEvents(events []topology.Event) []topology.Event {
	same := len(events) == len(k.events.of) && (len(events) == 0 || &events[0] == &k.events.of[0])
	if !same {
		k.events.of, k.events.as = events, hideInEvents(events)
	}
	return k.events.as
}

func (k *hiddenTables) make(t *topology.Table, h hidden, hide func([]topology.Event) []topology.Event) *topology.Table {
	next := *t
	if h.texts {
		next.Events = hide(t.Events)
	}
	if h.bounds {
		return next.Hide(k.hiding)
	}
	return &next
}

// mayNameKeys refuses to look for a key, or for one chunk, where that would tell
// hidden bounds.
func mayNameKeys(v View, why string) error {
	if v.Hidden.bounds {
		return fault.New(fault.Forbidden, "%s", words.T(why))
	}
	return nil
}
