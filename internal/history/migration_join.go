package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// lateEntry is how long after the end of a migration the other shard may still
// log its own: clocks differ, and a recipient gives up by itself.
const lateEntry = time.Minute

// opened is a migration whose further entries are awaited.
type opened struct {
	*Migration
	donor, recipient, failure bool // moveChunk.from, .to and .error are there
}

// joinEntries makes one migration of the entries that are of the same range, the
// same shards and the same attempt. Events are newest first, as a table has them;
// the result is in the order in which they began. A move to the shard that has
// the range already is none: nothing happens, though the donor notes "aborted".
func joinEntries(events []topology.Event) []*Migration {
	open := map[string]*opened{}
	var all []*Migration
	for _, e := range slices.Backward(events) {
		if !strings.HasPrefix(e.What, "moveChunk.") || len(e.Details) == 0 || toItself(e) {
			continue
		}
		d := e.Details
		id := e.NS + "\x00" + string(docIn(d, "min")) + "\x00" + string(docIn(d, "max"))
		m := open[id]
		if m == nil || !m.takes(e) {
			m = &opened{Migration: &Migration{NS: topology.Namespace(e.NS), Min: docIn(d, "min"), Max: docIn(d, "max"), Begin: e.Time, Outcome: Running, Documents: -1, Bytes: -1}}
			open[id] = m
			all = append(all, m.Migration)
		}
		m.add(e)
	}
	return all
}

// toItself tells that a chunk was asked to go where it is (5.0.7 logs it as
// moveChunk.from with the note "aborted").
func toItself(e topology.Event) bool {
	from := textIn(e.Details, "from")
	return from != "" && from == textIn(e.Details, "to")
}

// takes tells whether an entry can be of this attempt: each shard logs its end
// once, and only the other one's may come after it.
func (m *opened) takes(e topology.Event) bool {
	from, to := textIn(e.Details, "from"), textIn(e.Details, "to")
	if m.From != "" && from != "" && m.From != from || m.To != "" && to != "" && m.To != to {
		return false
	}
	over := !m.End.IsZero() && e.Time.Sub(m.End) > lateEntry
	switch e.What {
	case "moveChunk.start":
		return false
	case "moveChunk.from":
		return !m.donor
	case "moveChunk.to":
		return !m.recipient && !over
	case "moveChunk.error":
		return !m.failure && !m.donor && !over
	}
	return !m.donor && !m.failure
}

func (m *opened) add(e topology.Event) {
	d := e.Details
	m.From, m.To = cmp.Or(m.From, textIn(d, "from")), cmp.Or(m.To, textIn(d, "to"))
	m.Entries = append(m.Entries, e.ID)
	aborted := textIn(d, "note") == "aborted"
	switch e.What {
	case "moveChunk.commit":
		m.Outcome = Committed
		if c := docIn(d, "counts"); c != nil {
			m.Documents, m.Bytes = numberIn(c, "cloned"), numberIn(c, "clonedBytes")
		}
	case "moveChunk.error":
		m.failure, m.Outcome, m.End = true, Aborted, e.Time
		m.because(e)
	case "moveChunk.from":
		m.donor = true
		m.Donor, m.DonorSteps = steps(d)
		m.ended(e)
		m.Outcome = Done
		if aborted {
			m.Outcome = Aborted
			m.because(e)
		}
	case "moveChunk.to":
		m.recipient = true
		m.Recipient, m.RecipientSteps = steps(d)
		if aborted {
			m.because(e)
		}
	}
}

// because takes the reason of an entry over. Up to 5.0 the recipient is the only
// one that writes it; where several do, the donor's is what the caller was told.
func (m *Migration) because(e topology.Event) {
	if text := textIn(e.Details, "errmsg"); text != "" && (m.Reason == "" || m.ReasonFrom == "moveChunk.to") {
		m.Reason, m.ReasonFrom = text, e.What
	}
}

// Reason is why a move failed.
type Reason struct {
	Text string // the server's own; hostile. "" = it gave none
	From string // the entry that has it, or FromRun; "" without a text
	Code Code
}

// Why is the reason of a migration that failed.
func (m Migration) Why() Reason {
	return Reason{Text: m.Reason, From: m.ReasonFrom, Code: CodeOf(m.Reason)}
}

// FromRun says that the changelog has no reason, and the answer to the command of
// a run of ours has.
const FromRun = "run"

// answerOf takes the reason from the run that sent the move.
func (m *Migration) answerOf(runs []OurRun) {
	i := Item{At: m.Begin, NS: m.NS, RawMin: m.Min, RawMax: m.Max, From: m.From, To: m.To}
	for _, r := range runs {
		if r.Error != "" && r.To != "" && r.covers(i) {
			m.Reason, m.ReasonFrom = r.Error, FromRun
			return
		}
	}
}

// Reasons gives for each entry of a move that failed, by its id, why: the entries
// of one migration share the reason that one of them has. Events are newest first.
// runs are asked for only when the log does not say it all; nil: there are none.
func Reasons(events []topology.Event, runs func() []OurRun) map[string]Reason {
	out := map[string]Reason{}
	var ours []OurRun
	asked := runs == nil
	for _, m := range joinEntries(events) {
		if m.Outcome == Aborted && m.Reason == "" {
			if !asked {
				ours, asked = runs(), true
			}
			m.answerOf(ours)
		}
		if m.Outcome != Aborted && m.Reason == "" {
			continue
		}
		why := m.Why()
		for _, id := range m.Entries {
			out[id] = why
		}
	}
	return out
}

// FailedMove tells whether an entry says that a move failed.
func FailedMove(e topology.Event) bool {
	switch e.What {
	case "moveChunk.error":
		return true
	case "moveChunk.from", "moveChunk.to":
		return textIn(e.Details, "note") == "aborted" && !toItself(e)
	}
	return false
}
