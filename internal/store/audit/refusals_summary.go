package audit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// summarize makes one record of several kinds.
func summarize(past []*refusalCounter, now time.Time) dueRecord {
	sum := refusalCounter{}
	var by []string
	out := dueRecord{}
	for _, of := range past {
		by = append(by, of.name()+": "+strconv.Itoa(of.count))
		sum.merge(of)
		out.counters = append(out.counters, *of)
		*of = refusalCounter{key: of.key, records: of.records, lastRecord: now}
	}
	slices.Sort(by)
	const most = 20
	if len(by) > most {
		by = append(by[:most], "and "+strconv.Itoa(len(by)-most)+" more kinds")
	}
	e := store.AuditEntry{At: now, What: AccessFlood, Outcome: "refused", Cluster: sum.clusters.only(), From: sum.addresses.only(),
		Subject: sum.subjects.only(), Details: sum.details()}
	e.Details["kinds"] = strings.Join(by, "; ")
	out.entry = e
	return out
}

// name describes a kind in a summary: its code and its details.
func (of *refusalCounter) name() string {
	var more []string
	for _, name := range slices.Sorted(maps.Keys(of.entry.Details)) {
		more = append(more, sanitize.Truncate(of.entry.Details[name], exampleBytes))
	}
	if len(more) == 0 {
		return of.key.what
	}
	return of.key.what + " (" + strings.Join(more, ", ") + ")"
}
