package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// lateEntry is how long after the end of a migration the other shard may still log its own end:
// clocks differ, and a recipient gives up by itself.
const lateEntry = time.Minute

// cleanupTimeout is how long a recipient waits for the deletion of old documents of the range before it gives up
// (receiveChunkWaitForRangeDeleterTimeoutMS), less what clocks differ. It waits for nothing else before its first step.
const cleanupTimeout = 9 * time.Second

// openMigration is a migration that may get further entries.
type openMigration struct {
	*Migration
	donor, recipient, failure bool // moveChunk.from, .to and .error were seen
}

// joinEntries groups entries with the same range, shards and attempt into migrations. Events are
// newest first, as in a table; the result is in order of begin. A move to the shard that has the
// range already is skipped: nothing happens, although the donor notes "aborted".
func joinEntries(events []topology.Event) []*Migration {
	open := map[string]*openMigration{}
	var all []*Migration
	for _, e := range slices.Backward(events) {
		if !strings.HasPrefix(e.What, "moveChunk.") || len(e.Details) == 0 || e.MoveToSelf() {
			continue
		}
		d := e.Details
		id := e.NS + "\x00" + string(topology.DocumentField(d, "min")) + "\x00" + string(topology.DocumentField(d, "max"))
		m := open[id]
		if m == nil || !m.takes(e) {
			m = &openMigration{
				Migration: &Migration{
					NS:        topology.Namespace(e.NS),
					Min:       topology.DocumentField(d, "min"),
					Max:       topology.DocumentField(d, "max"),
					Begin:     e.Time,
					Outcome:   Running,
					Documents: -1,
					Bytes:     -1,
				},
			}
			open[id] = m
			all = append(all, m.Migration)
		}
		m.add(e)
	}
	return all
}

// takes reports whether an entry can belong to this attempt: each shard logs its end once, and only
// the other shard's may follow.
func (m *openMigration) takes(e topology.Event) bool {
	from, to := topology.TextField(e.Details, "from"), topology.TextField(e.Details, "to")
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

func (m *openMigration) add(e topology.Event) {
	d := e.Details
	m.From, m.To = cmp.Or(m.From, topology.TextField(d, "from")), cmp.Or(m.To, topology.TextField(d, "to"))
	m.Entries = append(m.Entries, e.ID)
	aborted := topology.TextField(d, "note") == "aborted"
	switch e.What {
	case "moveChunk.commit":
		m.Outcome = Committed
		if c := topology.DocumentField(d, "counts"); c != nil {
			m.Documents, m.Bytes = numberField(c, "cloned"), numberField(c, "clonedBytes")
		}
	case "moveChunk.error":
		m.failure, m.Outcome, m.End = true, Aborted, e.Time
		m.because(e)
	case "moveChunk.from":
		m.donor = true
		m.Donor, m.DonorSteps = steps(d)
		m.setEnd(e)
		m.Outcome = Done
		if aborted {
			m.Outcome = Aborted
			m.because(e)
		}
	case "moveChunk.to":
		m.recipient = true
		m.Recipient, m.RecipientSteps = steps(d)
		if aborted {
			m.cleanupWait = len(m.Recipient) == 0 && e.Time.Sub(m.Begin) >= cleanupTimeout
			m.because(e)
		}
	}
}

// because adopts the reason of an entry. Up to 5.0 only the recipient writes it; where both do, the
// donor's is what the caller was told.
func (m *Migration) because(e topology.Event) {
	if text := topology.TextField(e.Details, "errmsg"); text != "" && (m.Reason == "" || m.ReasonFrom == "moveChunk.to") {
		m.Reason, m.ReasonFrom = text, e.What
	}
}

// Reason is why a move failed.
type Reason struct {
	Text string // the server's text, untrusted; "" if it gave none
	From string // the entry with the text, or FromRun; "" without a text
	Code Code
}

// Why is the reason of a failed migration.
func (m Migration) Why() Reason {
	if m.Reason == "" && m.cleanupWait {
		return Reason{Code: OrphansLikely}
	}
	return Reason{Text: m.Reason, From: m.ReasonFrom, Code: CodeOf(m.Reason)}
}

// FromRun means that the reason is not in the changelog but in the answer to our run's command.
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

// Reasons returns the reason of each entry of a failed move, by entry id: all entries of one
// migration share the reason that one of them has. Events are newest first. runs is called only if
// the log lacks a reason; nil: no runs.
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
