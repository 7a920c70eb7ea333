package rules

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

func TestEveryRuleIsUnsureBeforeTheTableIsLoaded(t *testing.T) {
	for _, s := range []Situation{{}, {Table: &topology.Table{}}} {
		if r := Evaluate(s); len(r.Items) != 0 || len(r.Passed) != 0 || len(r.Unsure) != len(Rules()) {
			t.Errorf("%d items, %d passed, %d unsure", len(r.Items), len(r.Passed), len(r.Unsure))
		}
	}
}

// TestMissingDataNeverMakesARulePass removes one part of the data at a time: no rule
// that fired may then pass.
func TestMissingDataNeverMakesARulePass(t *testing.T) {
	trouble := []change{
		withCollection("y.documents", "{project_id: 1}", "abCabc"),
		addZone(pin3, "b", 3, 4),
		addZone("eu", "", 1, 2),
		assignZone("left", "c"),
		addZone("pin-"+oid(99).Hex(), "b", 4, 5),
		off,
		drainShard("c"),
		busyProject(3, 300, 0.7),
		withSize("y.users", "a", 5*gib, 9, 0),
		withSize("y.snapshot_bodies", "a", 3*gib, 9, 0),
		withSize("y.changes", "b", gib, 1_000_000, 500_000),
	}
	all := Evaluate(healthy(trouble...))
	must.That(t, len(all.Items) >= 9, "only %d rules fire, too few to test", len(all.Items))
	for name, less := range map[string]change{
		"zones": func(s *Situation) { s.Table.Zones = nil; withoutPart(topology.PartZones)(s) },
		"settings": func(s *Situation) {
			s.Table.Balancer = topology.Balancer{}
			s.Table.Health[topology.PartSettings] = topology.Health{}
		},
		"counting":  func(s *Situation) { s.Counting, s.Writes = false, nil },
		"unsharded": func(s *Situation) { s.Table.Unsharded = nil },
		"sizes":     func(s *Situation) { s.Table.Sizes = nil },
	} {
		r := Evaluate(healthy(append(slices.Clone(trouble), less)...))
		for _, i := range all.Items {
			// A rule about another subject may still pass.
			looks := map[string][]Rule{"zones": {ZoneNoShard, PinViolated, ZoneUnknown}, "settings": {BalancerOff},
				"counting": {HotProject}, "unsharded": {BigUnsharded}, "sizes": {BigUnsharded, SnapshotBodies, Orphans}}[name]
			expect.That(t, !slices.Contains(looks, i.Rule) || !slices.Contains(r.Passed, i.Rule),
				"without %s, %s passes", name, i.Rule)
		}
	}
}

func TestProblemsAreSortedBySeverityAndHaveStableIDs(t *testing.T) {
	build := func() Report {
		return Evaluate(healthy(off, drainShard("c"), addZone("eu <script>", "", 1, 2), assignZone("left/../", "c"),
			withCollection("y.changes", "{doc_id: hashed}", "aBc")))
	}
	a, b := build(), build()
	must.That(t, len(a.Items) >= 4, "%d items, want at least 4", len(a.Items))
	seen := map[string]bool{}
	for i, x := range a.Items {
		expect.That(t, x.ID == b.Items[i].ID, "the id %s changed to %s in the second evaluation", x.ID, b.Items[i].ID)
		if i > 0 && a.Items[i-1].Severity.Level() < x.Severity.Level() {
			t.Errorf("a problem of severity %s is listed before one of %s", a.Items[i-1].Severity, x.Severity)
		}
		if seen[x.ID] || strings.Trim(x.ID, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.HasPrefix(x.ID, string(x.Rule)+".") {
			t.Errorf("the id %q is not plain text", x.ID)
		}
		seen[x.ID] = true
	}
}

func TestNamesCannotBreakOutOfQuotesInCommands(t *testing.T) {
	evil := "\"}); db.dropDatabase(); ({\"\u202e\u2028`${x}"
	r := Evaluate(healthy(func(s *Situation) {
		s.Table.Unsharded = append(s.Table.Unsharded, topology.Namespace("y."+evil))
		setSize(s, "y."+evil, "a", 5*gib, 9, 0)
	}, assignZone(evil, "b"), addZone(evil+"2", "b", 1, 2), func(s *Situation) { s.Table.Zones[0].NS = topology.Namespace("y." + evil) }))
	commands := 0
	for _, i := range r.Items {
		for _, c := range i.Remedy.Commands {
			commands++
			if strings.ContainsAny(c.Text, "\u202e\u2028\n") || strings.Contains(outsideQuotes(c.Text), "dropDatabase") {
				t.Errorf("a name is outside of quotes or unescaped in the command %s", c.Text)
			}
		}
	}
	expect.That(t, commands >= 4, "only %d commands", commands)
}

// outsideQuotes returns the parts of a line of JavaScript that are not within double
// quotes.
func outsideQuotes(line string) string {
	var out strings.Builder
	within, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case within && r == '\\':
			escaped = true
		case r == '"':
			within = !within
		case !within:
			out.WriteRune(r)
		}
	}
	if within {
		return line
	}
	return out.String()
}

// balancerHistory is a history in which the balancer was turned off at a given time.
type balancerHistory struct {
	off   time.Time
	first time.Time
	gap   bool
	asked int
}

func (p *balancerHistory) At(_ context.Context, _ string, at time.Time) (history.Moment, error) {
	p.asked++
	if at.Before(p.first) {
		return history.Moment{}, fault.New(fault.NotFound, "not so far back")
	}
	t := &topology.Table{Loaded: true, Balancer: topology.Balancer{Known: true, Mode: "full"}}
	if !at.Before(p.off) {
		t.Balancer.Mode = "off"
	}
	return history.Moment{Table: t, At: at, Watched: !p.gap}, nil
}

func (p *balancerHistory) Begin(context.Context, string) (time.Time, error) { return p.first, nil }

func TestHistoryShowsSinceWhenTheBalancerIsOff(t *testing.T) {
	for name, c := range map[string]struct {
		past    balancerHistory
		want    time.Time
		atLeast bool
	}{
		"ten minutes ago": {balancerHistory{off: now.Add(-10 * time.Minute), first: now.Add(-999 * time.Hour)},
			now.Add(-10 * time.Minute), false},
		"nine days ago": {balancerHistory{off: now.Add(-9 * 24 * time.Hour), first: now.Add(-999 * time.Hour)},
			now.Add(-9 * 24 * time.Hour), false},
		"before the first observation": {
			balancerHistory{off: now.Add(-999 * time.Hour), first: now.Add(-5 * time.Hour)},
			now.Add(-5 * time.Hour), true,
		},
		"history is young": {balancerHistory{off: now.Add(-999 * time.Hour), first: now.Add(-7 * time.Minute)},
			now.Add(-7 * time.Minute), true},
		"on in a young history": {balancerHistory{off: now.Add(-3 * time.Minute), first: now.Add(-7 * time.Minute)},
			now.Add(-3 * time.Minute), false},
		"during a gap in observation": {balancerHistory{off: now.Add(-50 * time.Hour), first: now.Add(-999 * time.Hour), gap: true},
			now.Add(-50 * time.Hour), true},
	} {
		got, err := sinceWhen(t.Context(), &c.past, "c1", now, now, func(t *topology.Table) (so, known bool) { return !t.Balancer.Moves(), true })
		if d := got.At.Sub(c.want); err != nil || d < -time.Minute || d > time.Minute || c.past.first.Equal(c.want) && d != 0 ||
			got.AtLeast != c.atLeast {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		expect.That(t, c.past.asked <= 40, "%s: asked %d times, want at most 40", name, c.past.asked)
	}
}

func TestRateReportsHowMuchOfItsWindowWasCounted(t *testing.T) {
	for seconds, want := range map[float64]time.Duration{150: 150 * time.Second, 300: Window, 301.2: Window} {
		s := healthy(busyProject(3, 300, 0.7))
		s.Writes[0].Seconds = seconds
		found := 0
		for _, i := range Evaluate(s).Items {
			for _, e := range i.Evidence {
				if e.Method == "writes" {
					if found++; e.Over != Window || e.Covered != want {
						t.Errorf("%g s: %s of %s, want e.Over %v, e.Covered %v", seconds, e.Covered, e.Over, Window, want)
					}
				}
			}
		}
		expect.That(t, found != 0, "no problem has a rate")
	}
}

func TestBoundsOfSeverityAreChecked(t *testing.T) {
	got, err := ParseBounds([]string{"hot-rate=2.5", " hot-warn-share = 0 "})
	expect.That(t, err == nil && maps.Equal(got, Bounds{BoundHotRate: 2.5, BoundWarnShare: 0}), "%v, %v", got, err)
	for _, text := range []string{"", "hot-rate", "hot-rate=-1", "hot-rate=NaN", "hot-rate=Inf", "hot-warn-share=1.1", "heat=3"} {
		if got, err := ParseBounds([]string{text}); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestBoundsOfSeverityAreUsed(t *testing.T) {
	wide := withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc")
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, DocumentText: oid(9).Hex()}
	set := func(b Bound, v float64) change { return func(s *Situation) { s.Bounds = Bounds{b: v} } }
	runCases(t, []ruleCase{
		passes("below the rate", HotChunk, wide, withHotChunk(4, 20, 0.5, divides), set(BoundHotRate, 21)),
		fires("above the rate of warnings", HotChunk, Warn, "hotChunk.project", "split-hot", wide, withHotChunk(4, 20, 0.5, divides),
			set(BoundWarnRate, 20)),
		fires("below the share of warnings", HotShard, Info, "hotShard", "", set(BoundWarnShare, .9), func(s *Situation) {
			s.Writes[0].Shards = []heat.Line{shardLine("a", 8.2), shardLine("b", 1), shardLine("c", 0.8)}
		}),
	})
}
