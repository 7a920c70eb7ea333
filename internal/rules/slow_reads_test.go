package rules

import (
	"testing"
	"time"

	"shardboard/internal/heat"
)

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
