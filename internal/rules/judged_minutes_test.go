package rules

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/heat"
)

// onShardA has shard a take so much of the writes.
func onShardA(share float64) []Writes {
	const all = 60.0
	w := Writes{NS: "y.changes", Over: Window, Seconds: 60, To: now, Total: heat.Rate{PerSecond: all, Rows: 3600, Exact: true, Share: 1}}
	w.Shards = []heat.Line{shardLine("a", all*share), shardLine("b", all*(1-share)/2), shardLine("c", all*(1-share)/2)}
	return []Writes{w}
}

// A problem of writes begins and ends with full minutes, its figures are of the time since it began, and what is
// over says until when, and how it is now.
func TestProblemsOfWritesAreOfTheirMinutes(t *testing.T) {
	for name, c := range map[string]struct {
		minutes []float64 // of shard a, in each full minute, the newest last; negative: not counted
		want    string    // what the problem says; "": none
		not     string
		over    bool
	}{
		"for hours":              {[]float64{.9, .9, .9, .9, .9, .9, .9}, "takes 77% of the counted writes in the last 5 min", "", false},
		"at the first look":      {[]float64{.9, .9, .9, .9, .9, .9, .9}, "since 11:53 UTC or earlier", "", false},
		"since the third minute": {[]float64{.3, .3, .9, .9, .9, .9, .9}, "since 11:55 UTC; its", "", false},
		"for two minutes": {[]float64{.3, .3, .3, .3, .3, .9, .9},
			"takes 91% of the counted writes in the last minute, since 11:58", "", false},
		"over": {[]float64{.9, .9, .9, .9, .9, .9, .35},
			"takes 91% of the counted writes in the 5 min until 11:59 UTC (now 35%", "", true},
		"again":                   {[]float64{.9, .9, .3, .3, .9, .9, .9}, "since 11:57 UTC; its", "", false},
		"never in a whole minute": {[]float64{.3, .3, .3, .3, .3, .3, .3}, "", "", false},
		"a minute not counted":    {[]float64{.3, .3, .3, .9, -1, .9, .9}, "since 11:56 UTC; its", "", false},
		"the last is not counted": {[]float64{.3, .3, .3, .9, .9, .9, -1}, "since 11:56 UTC; its", "until", false},
	} {
		m := minuteWatch{spells: map[string]Spell{}}
		for i, share := range c.minutes {
			s := healthy()
			s.Now, s.Writes = now.Add(time.Duration(i+1-len(c.minutes))*time.Minute), onShardA(share)
			if share < 0 {
				s.Writes = []Writes{{NS: "y.changes", Over: time.Minute, Failed: true}}
			}
			m.judge(s)
		}
		s := healthy()
		s.Writes = onShardA(.77)
		s.Minutes = &JudgedMinutes{To: m.last, Minute: m.writes, Spells: m.spells, Between: func(from, to time.Time) []Writes {
			w := onShardA(.91)
			w[0].Over = to.Sub(from)
			return w
		}}
		items, _, _ := evaluateRule(s, HotShard)
		if c.want == "" {
			if len(items) > 0 {
				t.Errorf("%s: %s", name, items[0].Text)
			}
			continue
		}
		if len(items) != 1 {
			t.Errorf("%s: %d problems", name, len(items))
			continue
		}
		p, text := items[0], strings.ReplaceAll(items[0].Text.String(), "\u202f", "")
		if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) || p.Until.IsZero() == c.over {
			t.Errorf("%s: %q, over %v; want %q", name, text, !p.Until.IsZero(), c.want)
		}
		if c.over && (p.Severity != Info || len(p.Remedy.Plans) > 0) {
			t.Errorf("%s: %s with %d plans", name, p.Severity, len(p.Remedy.Plans))
		}
	}
}

// A problem stays listed at each second, however late the newest counts are: a window that begins after the first
// minute has fewer counted seconds than it is long.
func TestAProblemThatLastsIsListedAtEachSecond(t *testing.T) {
	began := now.Add(-2 * time.Minute)
	for late := range 30 {
		for after := range 180 {
			s := healthy()
			s.Now, s.Writes = now.Add(time.Duration(after)*time.Second), onShardA(.9)
			s.Minutes = &JudgedMinutes{To: now, Minute: onShardA(.9),
				Spells: map[string]Spell{idOf(HotShard, "a"): {From: began}},
				Between: func(from, to time.Time) []Writes {
					w := onShardA(.9)
					w[0].Over, w[0].Seconds = to.Sub(from), max(0, to.Sub(from).Seconds()-float64(late))
					return w
				}}
			if items, _, _ := evaluateRule(s, HotShard); len(items) != 1 {
				t.Fatalf("%d s after two minutes, with counts %d s late: %d problems", after, late, len(items))
			}
		}
	}
}

// What began in the middle of a minute is shown by the time since then, not thinned out by the quiet part of it.
func TestFiguresAreOfTheTimeSinceAProblemBegan(t *testing.T) {
	minute := now.Add(-time.Minute)
	for name, c := range map[string]struct {
		began time.Duration // after the minute's begin
		now   time.Duration // after it
		want  time.Duration
		rows  float64 // per second since then
	}{
		"at its begin":               {0, 70 * time.Second, 0, 40},
		"in its middle":              {35 * time.Second, 70 * time.Second, 40 * time.Second, 40},
		"near its end":               {50 * time.Second, 75 * time.Second, 50 * time.Second, 40},
		"too shortly ago to be sure": {55 * time.Second, 65 * time.Second, 40 * time.Second, 40},
		"in the minute before":       {35 * time.Second, 130 * time.Second, time.Minute, 40},
	} {
		p, found := sinceItBegan(minute, minute.Add(c.now), func(from time.Time) (Problem, bool) {
			quiet := max(0, c.began-from.Sub(minute))
			return Problem{From: from, PerSecond: c.rows * (1 - float64(quiet)/float64(c.now-from.Sub(minute)))}, true
		})
		if got := p.From.Sub(minute); !found || got != c.want {
			t.Errorf("%s: the figures are from %s on, want %s", name, got, c.want)
		}
	}
}
