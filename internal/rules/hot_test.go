package rules

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// withHotChunk gives one chunk of y.changes a write rate, a share and an assessment of
// splitting it. The remaining writes are distributed over the shards, most of them to
// its own.
func withHotChunk(chunk int, perSecond, share float64, s heat.Splitting) change {
	return func(x *Situation) {
		c := x.Table.Collection("y.changes")
		ch := c.Chunks.At(chunk)
		total := perSecond / share
		w := Writes{NS: "y.changes", Over: Window, Seconds: 900, To: now,
			Total: heat.Rate{PerSecond: total, Rows: int64(total * 900), Exact: true, Share: 1}}
		rest := (total - perSecond) / 4
		for i, shard := range x.Table.Shards { // apart from the hot chunk, the first shard has the fewest writes and the owner the most
			own := rest * []float64{0.5, 1, 1}[i]
			if shard.Name == ch.Shard {
				own = perSecond + 2.5*rest
			}
			w.Shards = append(w.Shards, shardLine(shard.Name, own))
		}
		w.Chunks = []ChunkWrites{{Min: ch.Min, Split: s, Line: heat.Line{Chunk: chunk, Shard: ch.Shard, Top: oid(3), TopShare: 0.95, Projects: 1,
			Rate: heat.Rate{PerSecond: perSecond, Share: share, Rows: int64(perSecond * 900), Exact: true}}}}
		x.Writes = []Writes{w}
	}
}

func TestHotShardsChunksAndDocumentsAreFound(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, DocumentText: oid(9).Hex()}
	document := heat.Splitting{Can: true, Code: "document", Share: 0.93, DocumentText: oid(9).Hex()}
	single := heat.Splitting{Code: "single"}
	unknown := heat.Splitting{Can: true, Code: "unknown"}
	short := func(s *Situation) {
		for i := range s.Writes {
			s.Writes[i].Seconds = 40
		}
	}
	manyProjects := func(s *Situation) { s.Writes[0].Chunks[0].Line.TopShare = 0.3 }
	uncounted := func(s *Situation) { s.Counting, s.Writes = false, nil }
	runCases(t, []ruleCase{
		fires("a chunk that a split divides", HotChunk, Warn, "hotChunk.project", "split-hot",
			wide, withHotChunk(4, 300, 0.5, divides)),
		fires("moderate", HotChunk, Info, "hotChunk.project", "split-hot", wide, withHotChunk(4, 20, 0.5, divides)),
		fires("of writers that are not known", HotChunk, Warn, "hotChunk.project", "move", wide, withHotChunk(4, 300, 0.5, unknown)),
		fires("of several projects", HotChunk, Warn, "hotChunk", "split-hot",
			wide, withHotChunk(4, 300, 0.5, divides), manyProjects),
		fires("of several projects", HotShard, Warn, "hotShard", "split-hot",
			wide, withHotChunk(4, 300, 0.9, divides), manyProjects),
		passes("a fifth of the writes", HotChunk, wide, withHotChunk(4, 300, 0.2, divides)),
		passes("one of three chunks", HotChunk, withHotChunk(1, 300, 0.5, divides)),
		passes("few writes", HotChunk, wide, withHotChunk(4, 2, 0.9, divides)),
		passes("of one document", HotChunk, wide, withHotChunk(4, 300, 0.5, document)),
		lacks("counted for a minute", HotChunk, "tooShort", wide, withHotChunk(4, 300, 0.5, divides), short),
		lacks("writes are not counted", HotChunk, "notCounting", wide, uncounted),
		lacks("in the past", HotChunk, "notKept", wide, func(s *Situation) { s.Past = true }),

		fires("one document", HotDocument, Warn, "hotDocument.of", "move", wide, withHotChunk(4, 300, 0.5, document)),
		fires("one document of three chunks", HotDocument, Warn, "hotDocument.of", "move", withHotChunk(1, 300, 0.6, document)),
		fires("one document is everything", HotDocument, Warn, "hotDocument.of", "", wide, withHotChunk(4, 300, 1, document)),
		fires("one value", HotDocument, Warn, "hotDocument.single", "move", wide, withHotChunk(4, 300, 0.5, single)),
		fires("one project, the key has no more", HotDocument, Info, "hotDocument.project", "move",
			wide, withHotChunk(4, 50, 0.5, heat.Splitting{Can: true, Code: "project", Share: 0.9})),
		passes("a split divides it", HotDocument, wide, withHotChunk(4, 300, 0.5, divides)),
		fires("migrations blocked", HotDocument, Warn, "hotDocument.of", "",
			wide, withHotChunk(4, 300, 0.5, document), inCollection("y.changes", blocked)),
		lacks("writes are not counted", HotDocument, "notCounting", wide, uncounted),

		fires("a shard with a chunk to split", HotShard, Warn, "hotShard.project", "split-hot",
			wide, withHotChunk(4, 300, 0.7, divides)),
		fires("for two projects", HotShard, Warn, "hotShard.projects", "split-hot", wide, withHotChunk(4, 150, 0.6, divides), func(s *Situation) {
			x := s.Writes[0].Chunks[0]
			x.Min, x.Line.Chunk, x.Line.Top = s.Table.Collection("y.changes").Chunks.At(1).Min, 1, oid(4)
			s.Writes[0].Chunks = append(s.Writes[0].Chunks, x)
			s.Writes[0].Shards[1].Rate.PerSecond += 150
		}),
		fires("almost all of little", HotShard, Warn, "hotShard", "", func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 8.2), shardLine("b", 1), shardLine("c", 0.8)}
		}),
		fires("three quarters of little", HotShard, Info, "hotShard", "", func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 7.5), shardLine("b", 1.5), shardLine("c", 1)}
		}),
		passes("almost all of next to nothing", HotShard, func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 4.5), shardLine("b", 0.3), shardLine("c", 0.2)}
		}),
		fires("almost all of it", HotShard, Warn, "hotShard.project", "split-hot", wide, withHotChunk(4, 300, 0.95, divides)),
		passes("evenly", HotShard, wide),
		passes("one shard can take anything", HotShard, wide, withHotChunk(4, 300, 0.95, divides), drainShard("a"), drainShard("c")),
		fires("a shard whose chunks are not counted", HotShard, Warn, "hotShard", "", func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 90), shardLine("b", 5), shardLine("c", 5)}
		}),
		lacks("counted for a minute", HotShard, "tooShort", short),
		lacks("one collection cannot be counted", HotShard, "countedPart",
			func(s *Situation) { s.Writes = append(s.Writes, Writes{NS: "y.snapshots", Failed: true}) }),
		lacks("writes are not counted", HotShard, "notCounting", uncounted),
	})
}

func TestHotChunkIsNotOfferedToAForbiddenShard(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	document := heat.Splitting{Can: true, Code: "document", Share: 0.93, DocumentText: oid(9).Hex()}
	for name, c := range map[string]struct {
		change change
		to     string
	}{
		"the calmest, by name": {func(*Situation) {}, "a"},
		"not one that drains":  {drainShard("a"), "c"},
		"not outside its zone": {func(s *Situation) {
			c := s.Table.Collection("y.changes")
			lo, hi := c.Chunks.At(4).Min, c.Chunks.At(4).Max
			s.Table.Zones = append(s.Table.Zones, topology.ZoneRange{NS: "y.changes", Zone: "eu", Min: lo, Max: hi})
			assignZone("eu", "bc")(s)
		}, "c"},
	} {
		items, unsure, _ := evaluateRule(healthy(wide, withHotChunk(4, 300, 0.5, document), c.change), HotDocument)
		if len(items) != 1 || len(items[0].Remedy.Plans) != 1 || items[0].Remedy.Plans[0].Args["to"] != c.to {
			t.Errorf("%s: %+v, unsure %v", name, items, unsure)
		}
	}
}

// Writes that were counted under older bounds do not make a chunk hot.
func TestChunkThatNoLongerExistsIsNotHot(t *testing.T) {
	s := healthy(withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc"), withHotChunk(4, 300, 0.5, heat.Splitting{Code: "single"}))
	addCollection(&s, "y.changes", "{doc_id: hashed}", "ab")
	if items, _, _ := evaluateRule(s, HotDocument); len(items) > 0 {
		t.Errorf("got %+v, want len 0", items)
	}
}

func TestSlowReadsAreNamedWithTheCollectionThatHasMostOfThem(t *testing.T) {
	load := func(perSecond float64, ms int) heat.Load {
		return heat.Load{Known: true, Over: 30 * time.Second, ReadsPerSecond: perSecond, ReadLatency: time.Duration(ms) * time.Millisecond}
	}
	base := healthy()
	var shards []string
	for _, s := range base.Table.Shards {
		shards = append(shards, s.Name)
	}
	var slow, other = shards[0], shards[1]
	first, second := base.Table.Collections[0].NS, base.Table.Collections[1].NS
	for _, c := range []struct {
		name  string
		loads Loads
		want  Severity // "": nothing
		says  string
	}{
		{"slow", Loads{first: {slow: load(80, 45), other: load(50, 2)}, second: {slow: load(20, 25), other: load(50, 2)}}, Info,
			"Reads take 41 ms on " + slow + ", elsewhere 2.0 ms; 80\u202f% of them are in " + string(first) + "."},
		{"very slow", Loads{first: {slow: load(80, 200), other: load(50, 2)}}, Warn, ""},
		{"slow everywhere", Loads{first: {slow: load(80, 45), other: load(50, 30)}}, "", ""},
		{"quick", Loads{first: {slow: load(80, 19), other: load(50, 1)}}, "", ""},
		{"seldom here", Loads{first: {slow: load(4, 45), other: load(50, 2)}}, "", ""},
		{"seldom elsewhere", Loads{first: {slow: load(80, 45), other: load(4, 2)}}, "", ""},
		{"not known", Loads{first: {slow: {}, other: load(50, 2)}}, "", ""},
	} {
		s := base
		s.Loads = c.loads
		found, _, _ := evaluateRule(s, SlowReads)
		switch {
		case c.want == "" && len(found) > 0 || c.want != "" && len(found) != 1:
			t.Errorf("%s: %d problems", c.name, len(found))
		case c.want == "":
		case found[0].Severity != c.want || found[0].Shard != slow || c.says != "" && found[0].Text.String() != c.says:
			t.Errorf("%s: %s, %s", c.name, found[0].Severity, found[0].Text)
		}
	}
	base.Loads = nil
	if found, unsure, _ := evaluateRule(base, SlowReads); len(found) > 0 || len(unsure) != 1 {
		t.Errorf("nothing was read: %v, %v", found, unsure)
	}
}

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
			expect.That(t, len(items) == 0, "%s: %+v", name, items)
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
		expect.That(t, !c.over || p.Severity == Info && len(p.Remedy.Plans) == 0,
			"%s: %s with %d plans", name, p.Severity, len(p.Remedy.Plans))
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
