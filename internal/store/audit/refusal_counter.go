package audit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

const (
	maxExamples  = 5
	maxAddresses = 1000 // distinct addresses of one kind; more are "more than 1000"
	maxSubjects  = 100
	exampleBytes = 120 // kept of an address or a subject
)

// refusalCounter counts the attempts of one kind since its last record.
type refusalCounter struct {
	key        kind
	records    *rate.Limiter // allowance of this kind; nil for signed-in people
	lastRecord time.Time     // time of the last record; zero: none yet

	entry       store.AuditEntry // the first attempt
	count       int
	first, last time.Time
	addresses   tally
	subjects    tally
	clusters    tally
	examples    []string
}

func newRefusalCounter(key kind) *refusalCounter {
	of := &refusalCounter{key: key}
	if key.by == "" {
		of.records = rate.NewLimiter(rate.Every(kindPause), kindBurst)
	}
	return of
}

func (of *refusalCounter) add(e store.AuditEntry, now time.Time) {
	if of.count == 0 {
		of.entry, of.first = e, now
	}
	of.count++
	of.last = now
	news := of.addresses.add(sanitize.Truncate(e.From, exampleBytes), maxAddresses)
	if of.subjects.add(sanitize.Truncate(e.Subject, exampleBytes), maxSubjects) || news {
		of.example(e)
	}
	of.clusters.add(e.Cluster, 2)
}

func (of *refusalCounter) example(e store.AuditEntry) {
	if len(of.examples) < maxExamples {
		of.examples = append(of.examples,
			strings.TrimSpace(sanitize.Truncate(e.From, exampleBytes)+" "+sanitize.Truncate(e.Subject, exampleBytes)))
	}
}

// recordDue reports whether nothing of this kind was recorded for a minute.
func (of *refusalCounter) recordDue(now time.Time) bool {
	return of.lastRecord.IsZero() || elapsed(of.lastRecord, now, refusalEvery)
}

// dueRecord is a record to write and the counts it stands for; if writing fails, they are counted again.
type dueRecord struct {
	entry    store.AuditEntry
	counters []refusalCounter
}

// take makes the record of what was counted and resets the counter.
func (of *refusalCounter) take(now time.Time) dueRecord {
	was := *of
	e := of.entry
	if of.key.details == "several" {
		e.By, e.Via, e.Details = "", "", map[string]string{"why": "several"}
	}
	if of.count > 1 {
		e.Details = maps.Clone(e.Details)
		if e.Details == nil {
			e.Details = map[string]string{}
		}
		e.At = now
		e.Cluster, e.From, e.Subject = of.clusters.only(), of.addresses.only(), of.subjects.only()
		maps.Copy(e.Details, was.details())
	}
	*of = refusalCounter{key: of.key, records: of.records, lastRecord: now}
	return dueRecord{e, []refusalCounter{was}}
}

// details are the details of several attempts. They would overwrite details of the same names; no
// entry uses these names.
func (of *refusalCounter) details() map[string]string {
	out := map[string]string{"count": strconv.Itoa(of.count), "addresses": of.addresses.String(),
		"first": moment(of.first), "last": moment(of.last)}
	if len(of.subjects.seen) > 1 {
		out["subjects"] = of.subjects.String()
	}
	if len(of.addresses.seen) > 1 || len(of.subjects.seen) > 1 {
		out["examples"] = strings.Join(of.examples, ", ")
	}
	return out
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// merge adds another counter's attempts.
func (of *refusalCounter) merge(other *refusalCounter) {
	if of.count == 0 || other.first.Before(of.first) {
		of.first = other.first
	}
	if of.count == 0 || other.last.After(of.last) {
		of.last = other.last
	}
	if of.count == 0 {
		of.entry = other.entry
	}
	of.count += other.count
	for to, from := range map[*tally]*tally{&of.addresses: &other.addresses, &of.subjects: &other.subjects, &of.clusters: &other.clusters} {
		for text := range from.seen {
			to.add(text, maxAddresses)
		}
		to.more = to.more || from.more
	}
	of.examples = append(of.examples, other.examples...)
	of.examples = of.examples[:min(len(of.examples), maxExamples)]
}

func canonicalDetails(details map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(details)) {
		b.WriteString(strconv.Quote(name) + strconv.Quote(details[name]))
	}
	return b.String()
}
