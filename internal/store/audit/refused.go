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
	mostExamples  = 5
	mostAddresses = 1000 // told apart, of one kind; more are "more than 1000"
	mostSubjects  = 100
	exampleBytes  = 120 // of an address or a subject that is kept in memory
)

// refused is what was counted of one kind since its last record.
type refused struct {
	key     kind
	records *rate.Limiter // of this kind; nil for people who are signed in
	told    time.Time     // of the last record; zero: none yet

	entry       store.AuditEntry // the first of them
	count       int
	first, last time.Time
	addresses   tally
	subjects    tally
	clusters    tally
	examples    []string
}

func newRefused(key kind) *refused {
	of := &refused{key: key}
	if key.by == "" {
		of.records = rate.NewLimiter(rate.Every(kindPause), kindBurst)
	}
	return of
}

func (of *refused) add(e store.AuditEntry, now time.Time) {
	if of.count == 0 {
		of.entry, of.first = e, now
	}
	of.count++
	of.last = now
	news := of.addresses.add(sanitize.Truncate(e.From, exampleBytes), mostAddresses)
	if of.subjects.add(sanitize.Truncate(e.Subject, exampleBytes), mostSubjects) || news {
		of.example(e)
	}
	of.clusters.add(e.Cluster, 2)
}

func (of *refused) example(e store.AuditEntry) {
	if len(of.examples) < mostExamples {
		of.examples = append(of.examples, strings.TrimSpace(sanitize.Truncate(e.From, exampleBytes)+" "+sanitize.Truncate(e.Subject, exampleBytes)))
	}
}

// quiet tells whether nothing of this kind was recorded for a minute.
func (of *refused) quiet(now time.Time) bool {
	return of.told.IsZero() || elapsed(of.told, now, refusalEvery)
}

// due is a record to be written, and what it stands for: when it cannot be
// written, that is counted again.
type due struct {
	entry store.AuditEntry
	of    []refused
}

// take makes the record of what was counted and begins to count anew.
func (of *refused) take(now time.Time) due {
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
		maps.Copy(e.Details, was.figures())
	}
	*of = refused{key: of.key, records: of.records, told: now}
	return due{e, []refused{was}}
}

// figures are the details of several attempts. A name that is already a detail
// of the entry would be replaced; none of these is used by one.
func (of *refused) figures() map[string]string {
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

// merge counts what another one has counted.
func (of *refused) merge(other *refused) {
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
			to.add(text, mostAddresses)
		}
		to.more = to.more || from.more
	}
	of.examples = append(of.examples, other.examples...)
	of.examples = of.examples[:min(len(of.examples), mostExamples)]
}

func canonicalDetails(details map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(details)) {
		b.WriteString(strconv.Quote(name) + strconv.Quote(details[name]))
	}
	return b.String()
}
