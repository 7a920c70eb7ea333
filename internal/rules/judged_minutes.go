package rules

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// JudgedMinutes says of which minutes the rules on writes found what.
type JudgedMinutes struct {
	To     time.Time        // end of the last full minute that was judged
	Minute []Writes         // what was counted in it
	Spells map[string]Spell // by problem: the newest time that it lasted
	// Since is what was counted since a time.
	Since func(time.Time) []Writes
}

// Spell is a time in which a problem was found of every full minute that could be judged.
type Spell struct {
	From    time.Time
	AtLeast bool      // the minute before could not be judged
	Until   time.Time // zero: it lasts
}

// findByMinute lists what a rule on writes finds. A problem lasts while it is found of the last full minute. Its
// figures are of the usual window, or of the time since it began. What ended within that window is listed as over,
// because the figures of other pages still have a part of it in them.
func (ev *evaluation) findByMinute(r rule) {
	usual := ev.foundIn(r, ev.Writes)
	ev.report.Unsure = append(ev.report.Unsure, usual.Unsure...)
	since := map[time.Time][]Problem{}
	byID := func(list []Problem, id string) (Problem, bool) {
		i := slices.IndexFunc(list, func(p Problem) bool { return p.ID == id })
		if i < 0 {
			return Problem{}, false
		}
		return list[i], true
	}
	for id, spell := range ev.Minutes.Spells {
		if rule, _, _ := strings.Cut(id, "."); rule != string(r.id) {
			continue
		}
		p, found := byID(usual.Items, id)
		if spell.Until.IsZero() && ev.Now.Sub(spell.From) < Window {
			if _, known := since[spell.From]; !known {
				since[spell.From] = ev.foundIn(r, ev.Minutes.Since(spell.From)).Items
			}
			p, found = byID(since[spell.From], id) // else what was its chunk was split or moved since
		}
		switch {
		case found && spell.Until.IsZero():
			ev.report.Items = append(ev.report.Items, p.lasting(spell, ev.Now))
		case found:
			ev.report.Items = append(ev.report.Items, ev.over(p, spell))
		}
	}
}

// foundIn is what a rule finds in other counts.
func (ev *evaluation) foundIn(r rule, writes []Writes) Report {
	other := *ev
	other.Writes, other.report = writes, &Report{}
	r.find(&other)
	return *other.report
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
	p.Why = message.New("hot.over", "It is over; the figures are of the last {window} and still have a part of it in them.",
		message.Duration("window", Window))
	p.Remedy = Remedy{WhyNot: message.New("hot.overNothing", "It is over, so nothing needs to be done.")}
	facts := []message.Fact{message.Words("until", minuteText(s.Until, ev.Now))}
	clause := ", until {until}"
	if share, known := shareNow(ev.Minutes.Minute, p); known {
		clause = ", until {until} (now {now})"
		facts = append(facts, message.Share("now", share))
	}
	p.Text.Pattern = withClause(p.Text.Pattern, clause)
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
func (m *minuteWatch) observe(c *heat.Collector, t *topology.Table, dir *placement.Directory, prof *profile.Profile, now time.Time) {
	end := now.Truncate(time.Minute)
	first := m.last
	if first.IsZero() || end.Sub(first) > judgedAgain || first.After(end) {
		first = end.Add(-judgedAgain)
		m.spells = map[string]Spell{}
	}
	for at := first.Add(time.Minute); !at.After(end); at = at.Add(time.Minute) {
		writes := writesBetween(c, t, prof, at.Add(-time.Minute), at)
		if at.Equal(end) && !countedUntil(c, t, at) {
			return // the last counts of this minute come in some seconds
		}
		m.judge(Situation{Table: t, Directory: dir, Profile: prof, Now: at, Counting: true, Writes: writes})
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
