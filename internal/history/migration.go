package history

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Outcome is the result of a migration.
type Outcome string

// Results of a migration. An Unclear one has begun and has no entry about its end: a donor that
// fails over never writes it.
const (
	Running   Outcome = "running"
	Committed Outcome = "committed" // the range has moved; the donor still cleans up
	Done      Outcome = "done"
	Aborted   Outcome = "aborted"
	Unclear   Outcome = "unclear"
)

// unclearAfter is how long a migration without further entries counts as running.
const unclearAfter = 15 * time.Minute

// Migration is one move of one range, from its changelog entries.
type Migration struct {
	NS             topology.Namespace
	Min, Max       bson.Raw
	From, To       string
	Begin, End     time.Time // End is zero while running; Begin is computed from the steps if only the end was logged
	Outcome        Outcome
	Donor          []time.Duration // duration of each step
	DonorSteps     int             // number of steps; 0: unknown
	Recipient      []time.Duration
	RecipientSteps int
	Reason         string   // the server's text; "" if it gave none
	ReasonFrom     string   // the entry with the reason, such as moveChunk.to, or FromRun: the answer to our run's command
	Entries        []string // ids of the changelog entries
	Documents      int64    // cloned documents; negative: unknown
	Bytes          int64
	cleanupWait    bool      // the recipient gave up as it does when it waits for the deletion of old documents, without a reason
	ETA            *Estimate // estimate for a running migration; nil without a basis
	Cause          Cause
}

// Took is how long it took, or has taken so far.
func (m Migration) Took(now time.Time) time.Duration {
	if m.End.IsZero() {
		return max(0, now.Sub(m.Begin))
	}
	return max(0, m.End.Sub(m.Begin))
}

// Estimate is when a migration will probably end, judging by earlier ones.
type Estimate struct {
	At       time.Time     // begin plus the median duration
	Late     time.Duration // how late it already is
	Basis    int           // number of past migrations used
	SameColl bool          // the migrations are of the same collection
}

// Migrations groups changelog entries by migration, newest first. Events are newest first, as in a
// table. The table shows where the range is now, which settles migrations without a logged end;
// eras and the table's balancer rounds show who can have started them.
func Migrations(t *topology.Table, now time.Time, runs []OurRun, eras Eras) []Migration {
	all := joinEntries(t.Events)
	out := make([]Migration, 0, len(all))
	for _, m := range slices.Backward(all) {
		m.settle(t, now)
		out = append(out, *m)
	}
	for i := range out {
		m := &out[i]
		if m.Outcome == Running {
			m.ETA = estimate(*m, out, now)
		}
		s := eras.state(m.Begin, m.NS)
		s.rounds = t.Rounds
		i := Item{At: m.Begin, end: m.End, NS: m.NS, RawMin: m.Min, RawMax: m.Max, From: m.From, To: m.To, Failed: m.Outcome == Aborted}
		m.Cause = causeOf(i, "move", runs, s)
		if m.Outcome == Aborted && m.Reason == "" {
			m.answerOf(runs)
		}
	}
	slices.SortStableFunc(out, func(a, b Migration) int { return cmp.Compare(b.Begin.UnixMilli(), a.Begin.UnixMilli()) })
	return out
}

// setEnd stores the donor's last entry. If only that entry is known, the begin is computed from the
// durations of its steps.
func (m *Migration) setEnd(e topology.Event) {
	m.End = e.Time
	var took time.Duration
	for _, s := range m.Donor {
		took += s
	}
	if begin := e.Time.Add(-took); begin.Before(m.Begin) {
		m.Begin = begin
	}
}

// settle decides migrations without a closing entry: the routing table proves a successful move,
// but nothing proves a failed one.
func (m *Migration) settle(t *topology.Table, now time.Time) {
	if m.Outcome != Running && m.Outcome != Committed {
		return
	}
	if now.Sub(m.Begin) <= unclearAfter {
		return
	}
	if m.Outcome == Committed {
		m.Outcome = Done
		return
	}
	m.Outcome = Unclear
	c := t.Collection(m.NS)
	if c == nil {
		return
	}
	if k, err := c.Key.Bound(m.Min); err == nil {
		if _, ch := c.Chunks.Find(k); ch.Shard == m.To && m.To != "" {
			m.Outcome = Done
		}
	}
}

// steps parses "step 1 of 6": milliseconds.
func steps(d bson.Raw) (took []time.Duration, of int) {
	elements, err := d.Elements()
	if err != nil {
		return nil, 0
	}
	for _, e := range elements {
		words := strings.Fields(e.Key())
		if len(words) != 4 || words[0] != "step" || words[2] != "of" {
			continue
		}
		n, err1 := strconv.Atoi(words[1])
		all, err2 := strconv.Atoi(words[3])
		ms, ok := e.Value().AsInt64OK()
		if err1 != nil || err2 != nil || !ok || n < 1 || n > all || all > 20 || ms < 0 || ms > int64(365*24*time.Hour/time.Millisecond) {
			continue
		}
		for len(took) < n {
			took = append(took, 0)
		}
		took[n-1], of = time.Duration(ms)*time.Millisecond, all
	}
	return took, of
}

func numberField(d bson.Raw, key string) int64 {
	n, ok := topology.Amount(d.Lookup(key))
	if !ok {
		return -1
	}
	return n
}

// minBasis is how many past migrations an estimate needs.
const minBasis = 3

// estimate uses the median duration of successful migrations: of the same collection, or of all if
// that has too few.
func estimate(m Migration, all []Migration, now time.Time) *Estimate {
	var same, every []time.Duration
	for _, o := range all {
		if o.Outcome != Done || o.End.IsZero() || o.Documents == 0 {
			continue // an empty range moves in no time
		}
		every = append(every, o.Took(now))
		if o.NS == m.NS {
			same = append(same, o.Took(now))
		}
	}
	list, isSame := same, true
	if len(list) < minBasis {
		list, isSame = every, false
	}
	if len(list) < minBasis {
		return nil
	}
	slices.Sort(list)
	e := &Estimate{At: m.Begin.Add(list[len(list)/2]), Basis: len(list), SameColl: isSame}
	e.Late = max(0, now.Sub(e.At))
	return e
}

// FailureGroup is failed migrations with the same reason.
type FailureGroup struct {
	Reason string // without what differs between cases; "" if none was given
	Code   Code
	Count  int
	Newest Migration
	NS     []topology.Namespace // by name
	By     map[By]int
}

// Failures groups failed migrations by reason, the most frequent first.
func Failures(list []Migration) []FailureGroup {
	var out []FailureGroup
	for _, m := range list {
		if m.Outcome != Aborted {
			continue
		}
		reason := normalizeReason(withoutNamespace(m.Reason, m.NS))
		code := m.Why().Code
		i := slices.IndexFunc(out, func(g FailureGroup) bool { return g.Reason == reason && g.Code == code })
		if i < 0 {
			i = len(out)
			out = append(out, FailureGroup{Reason: reason, Code: code, Newest: m, By: map[By]int{}})
		}
		g := &out[i]
		g.Count++
		g.By[m.Cause.By]++
		if !slices.Contains(g.NS, m.NS) {
			g.NS = append(g.NS, m.NS)
			natural.Sort(g.NS)
		}
	}
	slices.SortStableFunc(out, func(a, b FailureGroup) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// withoutNamespace removes the collection from a server's text, so that the same reason for
// different collections forms one group; the group lists the collections.
func withoutNamespace(reason string, ns topology.Namespace) string {
	if ns == "" {
		return reason
	}
	words := strings.Fields(reason)
	for i, w := range words {
		bare := strings.Trim(w, "'\"`.,:;()[]")
		if bare == string(ns) {
			words[i] = strings.Replace(w, bare, "…", 1)
		}
	}
	return strings.Join(words, " ")
}

// normalizeReason removes what differs between cases: numbers, ids of eight digits or more, and
// text in braces.
func normalizeReason(reason string) string {
	const most = 300
	var b bytes.Buffer
	depth := 0
	for _, word := range strings.Fields(reason) {
		if b.Len() > most {
			b.WriteString(" …")
			break
		}
		opens, closes := strings.Count(word, "{"), strings.Count(word, "}")
		was := depth
		depth = max(0, depth+opens-closes)
		switch {
		case was == 0 && opens > 0 && depth == 0:
			word = word[:strings.IndexByte(word, '{')] + "{…}" + word[strings.LastIndexByte(word, '}')+1:]
		case was == 0 && opens > 0:
			word = word[:strings.IndexByte(word, '{')] + "{…}"
		case was > 0 && depth == 0:
			// Text after the closing brace belongs to the reason.
			b.WriteString(word[strings.LastIndexByte(word, '}')+1:])
			continue
		case was > 0:
			continue
		case strings.ContainsAny(word, "0123456789") && !strings.Contains(word, "."):
			word = maskNumber(word)
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// maskNumber replaces a word that is mostly a number or an id.
func maskNumber(word string) string {
	n := 0
	for _, r := range word {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	if 2*n >= len(word) || n >= 8 {
		return "…"
	}
	return word
}
