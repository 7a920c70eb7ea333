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
func summarize(past []*refused, now time.Time) due {
	sum := refused{}
	var by []string
	out := due{}
	for _, of := range past {
		by = append(by, of.name()+": "+strconv.Itoa(of.count))
		sum.merge(of)
		out.of = append(out.of, *of)
		*of = refused{key: of.key, records: of.records, told: now}
	}
	slices.Sort(by)
	const most = 20
	if len(by) > most {
		by = append(by[:most], "and "+strconv.Itoa(len(by)-most)+" more kinds")
	}
	e := store.AuditEntry{At: now, What: AccessFlood, Outcome: "refused", Cluster: sum.clusters.only(), From: sum.addresses.only(),
		Subject: sum.subjects.only(), Details: sum.figures()}
	e.Details["kinds"] = strings.Join(by, "; ")
	out.entry = e
	return out
}

// name is a kind in a summary: its code, and what tells it from others.
func (of *refused) name() string {
	var more []string
	for _, name := range slices.Sorted(maps.Keys(of.entry.Details)) {
		more = append(more, sanitize.Truncate(of.entry.Details[name], exampleBytes))
	}
	if len(more) == 0 {
		return of.key.what
	}
	return of.key.what + " (" + strings.Join(more, ", ") + ")"
}
