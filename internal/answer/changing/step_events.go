package changing

import (
	"maps"
	"slices"
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// maxCounts bounds how many numbers of an entry are read: servers log up to
// five, and the content of the changelog is not trusted.
const maxCounts = 16

// serverCounts are the numbers that a server logged with a migration, by its own
// names: cloned, clonedBytes, catchup, steady. Nil where it logged none.
func serverCounts(e topology.Event) map[string]int64 {
	elements, err := topology.DocumentField(e.Details, "counts").Elements()
	if err != nil {
		return nil
	}
	var out map[string]int64
	for _, el := range elements {
		if n, ok := topology.Amount(el.Value()); ok && len(out) < maxCounts {
			if out == nil {
				out = map[string]int64{}
			}
			out[el.Key()] = n
		}
	}
	return out
}

// countsText is the same as one line for people.
func countsText(counts map[string]int64) string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, sanitize.Truncate(sanitize.Sentence(name), 40)+" "+format.Count(counts[name]))
	}
	return strings.Join(parts, ", ")
}

// StepEvents are a step's entries of the changelog, oldest first.
func StepEvents(s engine.Step) []api.StepEvent {
	out := make([]api.StepEvent, 0, len(s.Events))
	reasons := logbook.StepReasons(s)
	for _, e := range s.Events {
		x := logbook.ReadEvent(e).Because(reasons)
		row := api.StepEvent{What: e.What, From: x.From, To: x.To, Counts: serverCounts(e), Failed: x.Failed, At: api.Time(e.Time)}
		if x.Failed {
			row.FailureReason = logbook.FailureReason(x.Why)
		}
		out = append(out, row)
	}
	return out
}

// countedByServer is what a server counted of a migration; "" if it counted nothing.
func countedByServer(counts map[string]int64) string {
	if len(counts) == 0 {
		return ""
	}
	return "The server counted: " + countsText(counts)
}
