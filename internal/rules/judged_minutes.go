package rules

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/clock"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// JudgedMinutes says of which minutes the rules on writes found what.
type JudgedMinutes struct {
	To     time.Time        // end of the last full minute that was judged
	Minute []Writes         // what was counted in it
	Spells map[string]Spell // by problem: the newest time that it lasted
	// Between is what was counted in [from, to).
	Between func(from, to time.Time) []Writes
}

// Spell is a time in which a problem was found of every full minute that could be judged.
type Spell struct {
	From    time.Time
	AtLeast bool      // the minute before could not be judged
	Until   time.Time // zero: it lasts
}

// findByMinute lists what a rule on writes finds. A problem lasts while it is found of the last full minute. Its
// figures are of the usual window, or of the time since it began. What ended within that window is listed as over, with
// the figures of the time that it lasted.
func (ev *evaluation) findByMinute(r rule) {
	usual := ev.foundIn(r, ev.Writes, false)
	ev.report.Unsure = append(ev.report.Unsure, usual.Unsure...)
	known := map[[2]time.Time]Report{}
	in := func(id string, from, to time.Time) (Problem, bool) {
		report, found := known[[2]time.Time{from, to}]
		if !found {
			report = ev.foundIn(r, ev.Minutes.Between(from, to), true)
			known[[2]time.Time{from, to}] = report
		}
		p, found := report.withID(id)
		p.From = from
		return p, found
	}
	for id, spell := range ev.Minutes.Spells {
		if rule, _, _ := strings.Cut(id, "."); rule != string(r.id) {
			continue
		}
		switch {
		case spell.Until.IsZero() && ev.Now.Sub(spell.From) < Window:
			// What is not found was a chunk, and was split or moved since.
			if p, found := sinceItBegan(spell.From, ev.Now, func(from time.Time) (Problem, bool) { return in(id, from, ev.Now) }); found {
				ev.report.Items = append(ev.report.Items, p.lasting(spell, ev.Now))
			}
		case spell.Until.IsZero():
			if p, found := usual.withID(id); found {
				ev.report.Items = append(ev.report.Items, p.lasting(spell, ev.Now))
			}
		case ev.Now.Sub(spell.Until) < Window:
			if p, found := in(id, clock.Later(spell.From, spell.Until.Add(-Window)), spell.Until); found {
				ev.report.Items = append(ev.report.Items, ev.over(p, spell))
			}
		}
	}
}

const (
	// onsetStep is how exactly it is looked for when in its first minute a problem began, and leastSeconds the least time
	// whose figures are shown.
	onsetStep    = 10 * time.Second
	leastSeconds = 20
	// onsetShare is which part of the highest rate a window must have to begin after the onset.
	onsetShare = 0.9
)

// sinceItBegan is a problem with the figures of the time since it began, which was at some time in its first minute: a
// window with the quiet part of it would understate them, and what a plan then promises. From the second minute on the
// first is left out.
func sinceItBegan(minute, now time.Time, in func(from time.Time) (Problem, bool)) (best Problem, found bool) {
	if now.Sub(minute) >= 2*time.Minute {
		return in(minute.Add(time.Minute))
	}
	var list []Problem
	most := 0.0
	for from := minute; from.Before(minute.Add(time.Minute)) && now.Sub(from) >= leastSeconds*time.Second; from = from.Add(onsetStep) {
		if p, ok := in(from); ok {
			list, most = append(list, p), max(most, p.PerSecond)
		}
	}
	for _, p := range list {
		if p.PerSecond >= onsetShare*most {
			return p, true
		}
	}
	return Problem{}, false
}

// withID is the problem with an id.
func (r Report) withID(id string) (Problem, bool) {
	i := slices.IndexFunc(r.Items, func(p Problem) bool { return p.ID == id })
	if i < 0 {
		return Problem{}, false
	}
	return r.Items[i], true
}

// foundIn is what a rule finds in other counts. Of a problem that lasts it is asked for its figures only, and less
// has to be counted: the newest counts of a window come some seconds after its end.
func (ev *evaluation) foundIn(r rule, writes []Writes, lasts bool) Report {
	other := *ev
	other.Writes, other.report, other.short = writes, &Report{}, lasts
	r.find(&other)
	return *other.report
}

// neededSeconds is how much must have been counted to judge, or to show the figures of what was judged before.
func (ev *evaluation) neededSeconds() float64 {
	if ev.short {
		return leastSeconds
	}
	return hotSeconds
}

// lasting is the problem with the time at which it began.
func (p Problem) lasting(s Spell, now time.Time) Problem {
	p.Since, p.SinceAtLeast = s.From, s.AtLeast
	clause := ", since {since}"
	if s.AtLeast {
		clause = ", since {since} or earlier"
	}
	p.Text.Pattern = withClause(p.Text.Pattern, clause)
	p.Text.Facts = append(slices.Clone(p.Text.Facts), message.Words("since", minuteText(s.From, now)))
	return p
}

// withClause adds a clause to the first main clause of a text: what follows it may be true at any time.
func withClause(text, clause string) string {
	end := strings.IndexAny(text, ";.")
	if end < 0 {
		return text + clause
	}
	return text[:end] + clause + text[end:]
}

// minuteText is a full minute, with its date unless it is of the last day.
func minuteText(t, now time.Time) string {
	layout := "15:04 UTC"
	if now.Sub(t) > 24*time.Hour {
		layout = "2 Jan 15:04 UTC"
	}
	return t.UTC().Format(layout)
}

// over is a problem that has ended: a note that says until when it lasted and how it is now, without a remedy.
func (ev *evaluation) over(p Problem, s Spell) Problem {
	p.Since, p.SinceAtLeast, p.Until = s.From, s.AtLeast, s.Until
	p.Severity, p.Weight = Info, 0
	p.Why = message.New("hot.over", "It is over; the figures are of the time that it lasted.")
	p.Remedy = Remedy{WhyNot: message.New("hot.overNothing", "It is over, so nothing needs to be done.")}
	facts := []message.Fact{message.Words("until", minuteText(s.Until, ev.Now))}
	until := "until {until}"
	if share, known := shareNow(ev.Minutes.Minute, p); known {
		until = "until {until} (now {now})"
		facts = append(facts, message.Share("now", share))
	}
	p.Text.Pattern = strings.Replace(p.Text.Pattern, "in the last {window}", "in the {window} "+until, 1)
	p.Text.Facts = append(slices.Clone(p.Text.Facts), facts...)
	return p
}

// shareNow is the share that a problem is about, in other counts.
func shareNow(writes []Writes, p Problem) (float64, bool) {
	switch p.Rule {
	case HotShard:
		by, total := shardWrites(writes)
		return by[p.Shard].PerSecond / max(total.PerSecond, 1e-9), total.PerSecond > 0
	case HotProject:
		var busiest Writes
		for _, w := range writes {
			if w.NS.Database() == p.NS.Database() && w.Total.PerSecond > busiest.Total.PerSecond {
				busiest = w
			}
		}
		for _, l := range busiest.Projects {
			if l.Project.Hex() == p.Project {
				return l.Rate.Share, true
			}
		}
		return 0, busiest.Total.PerSecond > 0
	}
	for _, w := range writes {
		if w.NS != p.NS {
			continue
		}
		if p.Rule == MonotonicKey {
			return w.Growing.Share, w.Growing.Rows > 0
		}
		for _, x := range w.Chunks {
			if x.Min.Compare(p.Chunk) == 0 {
				return x.Line.Rate.Share, true
			}
		}
	}
	return 0, false
}

const (
	// judgedFor is how long judged minutes are remembered, and judgedAgain how many of them are judged when this begins,
	// from what was counted before.
	judgedFor   = 24 * time.Hour
	judgedAgain = time.Hour
)

// minuteWatch remembers of which full minutes the rules on writes found what.
type minuteWatch struct {
	last   time.Time // end of the last minute that was judged; zero: none
	writes []Writes  // of it
	spells map[string]Spell
}

// observe judges the full minutes that have been counted since.
func (m *minuteWatch) observe(c *heat.Collector, s Situation) {
	t, end := s.Table, s.Now.Truncate(time.Minute)
	first := m.last
	if first.IsZero() || end.Sub(first) > judgedAgain || first.After(end) {
		first = end.Add(-judgedAgain)
		m.spells = map[string]Spell{}
	}
	for at := first.Add(time.Minute); !at.After(end); at = at.Add(time.Minute) {
		writes := writesBetween(c, t, s.Profile, at.Add(-time.Minute), at)
		if at.Equal(end) && !countedUntil(c, t, at) {
			return // the last counts of this minute come in some seconds
		}
		m.judge(Situation{Table: t, Directory: s.Directory, Profile: s.Profile, Now: at, Bounds: s.Bounds, Counting: true, Writes: writes})
	}
}

// countedUntil tells whether all collections that are counted were counted up to a time, or failed.
func countedUntil(c *heat.Collector, t *topology.Table, at time.Time) bool {
	return !slices.ContainsFunc(c.Counted(t), func(ns topology.Namespace) bool {
		h, known := c.Health(ns)
		return known && h.Err == nil && c.CountedUntil(ns).Before(at)
	})
}

// judge notes what the rules on writes find of the minute before s.Now. A rule that could not judge it neither
// begins nor ends anything.
func (m *minuteWatch) judge(s Situation) {
	found, unsure := map[string]bool{}, map[Rule]bool{}
	for _, r := range all {
		if !r.ofWrites {
			continue
		}
		ev := &evaluation{Situation: s, report: &Report{}, rule: r.id, plans: map[topology.Namespace]*balance.Plan{}}
		r.find(ev)
		unsure[r.id] = len(ev.report.Unsure) > 0
		for _, p := range ev.report.Items {
			found[p.ID] = true
		}
	}
	begin := s.Now.Add(-time.Minute)
	for id := range found {
		spell, known := m.spells[id]
		if !known || !spell.Until.IsZero() {
			m.spells[id] = Spell{From: begin, AtLeast: m.last.IsZero()}
		}
	}
	for id, spell := range m.spells {
		rule, _, _ := strings.Cut(id, ".")
		switch {
		case spell.Until.IsZero() && !found[id] && !unsure[Rule(rule)]:
			spell.Until = begin
			m.spells[id] = spell
		case !spell.Until.IsZero() && s.Now.Sub(spell.Until) > judgedFor:
			delete(m.spells, id)
		}
	}
	m.last, m.writes = s.Now, s.Writes
}
