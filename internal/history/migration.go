package history

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Outcome is how a migration went.
type Outcome string

// How a migration can have gone. Unclear ones have begun and no entry tells
// their end: a donor that fails over never writes it.
const (
	Running   Outcome = "running"
	Committed Outcome = "committed" // the range has moved; the donor still cleans up
	Done      Outcome = "done"
	Aborted   Outcome = "aborted"
	Unclear   Outcome = "unclear"
)

// unclearAfter is how long a migration without a further entry counts as running.
const unclearAfter = 15 * time.Minute

// Migration is what the changelog tells of one move of one range.
type Migration struct {
	NS             topology.Namespace
	Min, Max       bson.Raw
	From, To       string
	Begin, End     time.Time // End is zero while it runs; Begin where only the end was seen is made from the steps
	Outcome        Outcome
	Donor          []time.Duration // by step
	DonorSteps     int             // of how many; 0: not told
	Recipient      []time.Duration
	RecipientSteps int
	Reason         string   // the server's own text; "" = it gave none
	ReasonFrom     string   // the entry that has it, as moveChunk.to; FromRun: the answer that one of our runs got
	Entries        []string // ids of its changelog entries
	Documents      int64    // cloned; negative: not told
	Bytes          int64
	ETA            *Estimate // of a running one; nil: nothing to estimate from
	Cause          Cause
}

// Took is how long it took, or takes so far.
func (m Migration) Took(now time.Time) time.Duration {
	if m.End.IsZero() {
		return max(0, now.Sub(m.Begin))
	}
	return max(0, m.End.Sub(m.Begin))
}

// Estimate says when a migration is likely to end, from the ones before it.
type Estimate struct {
	At       time.Time     // the middle of past durations after its begin
	Late     time.Duration // how far beyond that it is already
	Basis    int           // how many past migrations it is made from
	SameColl bool          // they are of the same collection
}

// Migrations joins changelog entries to migrations, newest first. Events are
// newest first, as a table has them. The table tells for those whose end is not
// logged where the range is; eras and the table's rounds of the balancer tell who
// may have moved it.
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
		i := Item{At: m.Begin, over: m.End, NS: m.NS, RawMin: m.Min, RawMax: m.Max, From: m.From, To: m.To, Failed: m.Outcome == Aborted}
		m.Cause = causeOf(i, "move", runs, s)
		if m.Outcome == Aborted && m.Reason == "" {
			m.answerOf(runs)
		}
	}
	slices.SortStableFunc(out, func(a, b Migration) int { return cmp.Compare(b.Begin.UnixMilli(), a.Begin.UnixMilli()) })
	return out
}

// ended notes the donor's last entry; the begin of a migration of which nothing
// else is kept is as long before as its steps took.
func (m *Migration) ended(e topology.Event) {
	m.End = e.Time
	var took time.Duration
	for _, s := range m.Donor {
		took += s
	}
	if begin := e.Time.Add(-took); begin.Before(m.Begin) {
		m.Begin = begin
	}
}

// settle ends what has no closing entry: the routing table proves a move that
// went through, and nothing proves one that did not.
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

// steps reads "step 1 of 6": milliseconds.
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

func numberIn(d bson.Raw, key string) int64 {
	n, ok := d.Lookup(key).AsInt64OK()
	if !ok {
		return -1
	}
	return n
}

// fewest is how many past migrations an estimate needs.
const fewest = 3

// estimate takes the median duration of migrations that went well: of the same
// collection, or of all where that has too few.
func estimate(m Migration, all []Migration, now time.Time) *Estimate {
	var same, every []time.Duration
	for _, o := range all {
		if o.Outcome != Done || o.End.IsZero() || o.Documents == 0 {
			continue // a range without documents moves in no time
		}
		every = append(every, o.Took(now))
		if o.NS == m.NS {
			same = append(same, o.Took(now))
		}
	}
	list, isSame := same, true
	if len(list) < fewest {
		list, isSame = every, false
	}
	if len(list) < fewest {
		return nil
	}
	slices.Sort(list)
	e := &Estimate{At: m.Begin.Add(list[len(list)/2]), Basis: len(list), SameColl: isSame}
	e.Late = max(0, now.Sub(e.At))
	return e
}

// FailureGroup is failed migrations with the same reason.
type FailureGroup struct {
	Reason string // with what differs from one to the next left out; "" = none was given
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
		reason := alike(unnamed(m.Reason, m.NS))
		i := slices.IndexFunc(out, func(g FailureGroup) bool { return g.Reason == reason })
		if i < 0 {
			i = len(out)
			out = append(out, FailureGroup{Reason: reason, Code: m.Why().Code, Newest: m, By: map[By]int{}})
		}
		g := &out[i]
		g.Count++
		g.By[m.Cause.By]++
		if !slices.Contains(g.NS, m.NS) {
			g.NS = append(g.NS, m.NS)
			slices.Sort(g.NS)
		}
	}
	slices.SortStableFunc(out, func(a, b FailureGroup) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// unnamed leaves the collection out of a server's text: a reason is the same one
// whatever collection it met, and a group names its collections.
func unnamed(reason string, ns topology.Namespace) string {
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

// alike leaves out of a server's text what differs from case to case: numbers
// and ids of eight digits or more, and what stands in braces.
func alike(reason string) string {
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
			// What closes the brackets around the braces belongs to the text.
			b.WriteString(word[strings.LastIndexByte(word, '}')+1:])
			continue
		case was > 0:
			continue
		case strings.ContainsAny(word, "0123456789") && !strings.Contains(word, "."):
			word = digits(word)
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// digits replaces a word that is mostly a number or an id.
func digits(word string) string {
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
