package main

import (
	"strings"
	"testing"

	"shardboard/internal/bench"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestFiguresStandBesideTheirBoundsWithAVerdict(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	within := bench.Figure{Name: "index keys examined", Value: number(1240), Bound: number(2000), Unit: "/min"}
	over := bench.Figure{Name: "first load ÷ drain", Value: number(1.5), Bound: number(1.25)}
	for _, c := range []struct {
		figures []bench.Figure
		want    []string
	}{
		{[]bench.Figure{within}, []string{"1240 /min", "2000 /min", "ok", "Within their bounds: all 1."}},
		{[]bench.Figure{within, over}, []string{"1.50", "1.25", "OVER", "Over the bound: first load ÷ drain (1 of 2)."}},
		{[]bench.Figure{within, {Name: "memory of a socket", Note: "this system does not tell"}}, []string{"not measured", "all 1"}},
	} {
		var out strings.Builder
		must.Do(t, printFigures(&out, bench.Report{Figures: c.figures}))
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
	expect.Equal(t, fault.Of(figuresOver{}).ExitCode(), 1, "the exit code of a figure over its bound")
}
