package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// printPlan writes a plan for people: what it does, its checks, commands, effects and undo.
func printPlan(w io.Writer, p api.Plan) error {
	line(w, "%s", p.Summary)
	line(w, "")
	facts := [][2]string{{"plan", p.ID}, {"hash", p.Hash}, {"kind", p.Kind}, {"reason", p.Reason}, {"by", p.By},
		{"risk", p.Risk + ", needs the role " + p.Role}, {"expires", timeText(p.ExpiresAt, "never")}}
	if p.UndoOf != "" {
		facts = append(facts, [2]string{"undo of", p.UndoOf})
	}
	for _, f := range facts {
		line(w, "%-8s %s", f[0], f[1])
	}
	line(w, "\nChecks")
	for _, c := range p.Checks {
		printCheck(w, c)
	}
	line(w, "\nCommands")
	for i, c := range p.Commands {
		line(w, "  %d  %s", i+1, commandText(c.Op, c.DB, c.Command))
	}
	if err := printEffect(w, p.Effect); err != nil {
		return err
	}
	line(w, "\nUndo")
	line(w, "  %s%s", map[bool]string{false: "Not possible. "}[p.Undo.Possible], p.Undo.Text)
	if p.Undo.From != nil {
		line(w, "  Possible from about %s on.", timeText(p.Undo.From, ""))
	}
	line(w, "")
	return nextStep(w, p)
}

// nextStep says how to run the plan. The confirmation text is shown for typing.
func nextStep(w io.Writer, p api.Plan) error {
	if p.Blocked {
		return nil
	}
	command := "shardboard run " + p.ID + " --hash " + p.Hash
	if p.Confirm != nil {
		line(w, "To confirm it, type: %s", *p.Confirm)
		command += " --confirm …"
	}
	_, err := fmt.Fprintln(w, clean(command))
	return err
}

func printCheck(w io.Writer, c api.PlanCheck) {
	line(w, "  %-5s %s: %s  [%s]", c.Verdict, c.ID, c.Text, c.Source)
}

func commandText(op, db string, command api.Key) string {
	if len(command) == 0 || string(command) == "null" {
		return op + ": sends nothing, waits until it is done"
	}
	return op + "  " + db + "  " + string(command)
}

func printEffect(w io.Writer, e api.Effect) error {
	line(w, "\nEffect")
	line(w, "  chunks %s, documents %s, size %s, time %s", figureText(e.Chunks, count), figureText(e.Documents, count),
		figureText(e.Bytes, size), figureText(e.DurationMillis, took))
	if len(e.Shards) > 0 {
		tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
		fmt.Fprintln(tab, "  SHARD\tCHUNKS\tSIZE")
		for _, s := range e.Shards {
			fmt.Fprintf(
				tab,
				"  %s\t%d → %d\t%s → %s\n",
				clean(s.Shard),
				s.ChunksBefore,
				s.ChunksAfter,
				clean(figureText(s.BytesBefore, size)),
				clean(figureText(s.BytesAfter, size)),
			)
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	if len(e.Writes) > 0 {
		tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
		fmt.Fprintln(tab, "  SHARD\tWRITES/S, EXPECTED")
		for _, s := range e.Writes {
			fmt.Fprintf(tab, "  %s\tabout %.1f → %.1f\n", clean(s.Shard), s.PerSecondBefore, s.PerSecondAfter)
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	for _, m := range e.Moves {
		line(w, "  %s [%s, %s) from %s to %s, %s", m.NS, m.Min, m.Max, cmp.Or(m.From, "?"), m.To, figureText(m.Bytes, size))
	}
	for _, s := range e.Stays {
		line(w, "  Stays as it is: %s", s)
	}
	return nil
}

// figureText distinguishes exact, estimated and unknown values.
func figureText(f api.Figure, write func(int64) string) string {
	switch {
	case f.Value == nil:
		return "unknown (" + cmp.Or(f.Reason, "notLoaded") + ")"
	case f.Exact || *f.Value == 0:
		return write(*f.Value)
	case f.PlusMinus > 0:
		return "about " + write(*f.Value) + " (± " + write(f.PlusMinus) + ")"
	}
	return "about " + write(*f.Value)
}

func count(n int64) string { return fmt.Sprint(n) }

func took(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

func size(n int64) string {
	v, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}

// line writes exactly one line: only the format may begin with a line end.
func line(w io.Writer, format string, args ...any) {
	if rest, ok := strings.CutPrefix(format, "\n"); ok {
		fmt.Fprintln(w)
		format = rest
	}
	fmt.Fprintln(w, clean(fmt.Sprintf(format, args...))) // a closed terminal is noticed by the last write
}

// clean makes text safe for a terminal. The server's sentences have thin spaces before units, which
// would be escaped.
func clean(s string) string {
	return sanitize.Line(strings.NewReplacer("\u2009", " ", "\u202f", " ", "\u00a0", " ").Replace(s))
}
