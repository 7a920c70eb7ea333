package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// printPlan writes a plan for people: what it does, its checks, commands, effects and undo.
func printPlan(w io.Writer, p api.Plan) error {
	line(w, "%s", p.Summary.String())
	line(w, "%s", changing.RequestedText(p.ByName, p.By, p.Reason))
	line(w, "")
	risk := actions.Risk(p.Risk)
	facts := [][2]string{{"plan", p.ID}, {"hash", p.Hash}, {"kind", p.Kind}, {"risk", risk.Label() + " " + risk.Meaning(p.Undo.Possible)},
		{"role", p.Role}, {"expires", timeText(p.ExpiresAt, "never")}}
	if p.UndoOf != "" {
		facts = append(facts, [2]string{"undo of", p.UndoOf})
	}
	for _, f := range facts {
		line(w, "%-8s %s", f[0], f[1])
	}
	line(w, "\nChecks")
	line(w, "  %s", changing.ChecksText(p.Checks))
	open, passed := changing.SortChecks(p.Checks)
	for _, c := range append(open, passed...) {
		printCheck(w, c)
	}
	printApproval(w, p.Approval)
	line(w, "\nCommands")
	for i, c := range p.Commands {
		line(w, "  %d  %s", i+1, commandText(c.Op, c.DB, c.Command))
	}
	if err := printEffect(w, p.Effect); err != nil {
		return err
	}
	line(w, "\nUndo")
	for _, text := range changing.UndoMessages(p.Undo, time.Now()) {
		line(w, "  %s", text)
	}
	line(w, "")
	return nextStep(w, p)
}

// nextStep says how to run the plan. The confirmation text is shown for typing.
func nextStep(w io.Writer, p api.Plan) error {
	if p.Blocked {
		return nil
	}
	if p.Approval.State == "asked" {
		line(w, "Somebody else has to approve it first: shardboard approve %s --hash %s", p.ID, p.Hash)
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
	line(w, "  %-7s %s: %s  [%s]", actions.Verdict(c.Verdict).Label(), c.ID, c.Text.String(), c.Source)
}

func commandText(op, db string, command api.Key) string {
	if len(command) == 0 || string(command) == "null" {
		return op + ": sends nothing; waits until it is done"
	}
	return op + "  " + db + "  " + string(command)
}

func printEffect(w io.Writer, e api.Effect) error {
	line(w, "\nEffect")
	for _, f := range [][2]string{
		{"Chunks split or moved", answer.ApproxText(e.Chunks, format.Count)},
		{"Data to move", answer.ApproxText(e.Bytes, format.Bytes)},
		{"Documents to move", answer.ApproxText(e.Documents, format.Count)},
		{"Takes about", answer.WithInterval(e.DurationMillis, changing.MillisText)},
	} {
		line(w, "  %-21s  %s", f[0], f[1])
	}
	if b := e.ByBalancer; b != nil {
		chunks, bytes := answer.ApproxText(b.Chunks, format.Count), answer.ApproxText(b.Bytes, format.Bytes)
		line(w, "  %-21s  chunks: %s, data: %s", "By the balancer then", chunks, bytes)
	}
	if from := changing.EstimatedFrom(e); from != "" {
		line(w, "  %s", from)
	}
	var shards, writes []string
	for _, s := range e.Shards {
		before, after := answer.ApproxText(s.BytesBefore, format.Bytes), answer.ApproxText(s.BytesAfter, format.Bytes)
		if s.ChunksBefore != s.ChunksAfter || before != after {
			shards = append(shards, fmt.Sprintf("  %s\t%s → %s\t%s → %s", clean(s.Shard), clean(format.Count(s.ChunksBefore)),
				clean(format.Count(s.ChunksAfter)), clean(before), clean(after)))
		}
	}
	for _, s := range e.Writes {
		if s.PerSecondBefore != s.PerSecondAfter {
			writes = append(writes, fmt.Sprintf("  %s\tabout %s → %s", clean(s.Shard), clean(format.PerSecond(s.PerSecondBefore)),
				clean(format.PerSecond(s.PerSecondAfter))))
		}
	}
	err := errors.Join(printChanged(w, "  SHARD\tCHUNKS\tSIZE", shards, len(e.Shards)),
		printChanged(w, "  SHARD\tWRITES/S, EXPECTED", writes, len(e.Writes)))
	if err != nil {
		return err
	}
	for _, m := range e.Moves {
		what := m.NS
		if changing.OfRange(m) {
			what += fmt.Sprintf(" [%s, %s)", m.Min, m.Max)
		}
		line(w, "  %s from %s to %s, %s", what, cmp.Or(m.From, "all its shards"), changing.RecipientsText(m),
			answer.ApproxText(m.Bytes, format.Bytes))
	}
	for _, s := range e.Stays {
		line(w, "  Stays as it is: %s", s)
	}
	return nil
}

// printChanged prints a table of the shards for which something changes, of so many.
func printChanged(w io.Writer, header string, rows []string, shards int) error {
	if len(rows) == 0 {
		return nil
	}
	tab := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintln(tab, header)
	for _, r := range rows {
		fmt.Fprintln(tab, r)
	}
	if others := shards - len(rows); others > 0 {
		fmt.Fprintln(tab, "  "+answer.Counted(others, "other shard stays as it is", "other shards stay as they are"))
	}
	return tab.Flush()
}

// line writes exactly one line: only the format may begin with a line end.
func line(w io.Writer, format string, args ...any) {
	if rest, ok := strings.CutPrefix(format, "\n"); ok {
		fmt.Fprintln(w)
		format = rest
	}
	fmt.Fprintln(w, clean(fmt.Sprintf(format, args...))) // a closed terminal is noticed by the last write
}

// thousands are digits before the thin space that a page has within a number: a terminal has a comma there, so
// that the number stays one word.
var thousands = regexp.MustCompile(`(\d)\x{202f}(\d)`)

// clean makes text safe for a terminal. The server's sentences have thin spaces before units, which
// would be escaped.
func clean(s string) string {
	s = thousands.ReplaceAllString(s, "$1,$2")
	return sanitize.Line(strings.NewReplacer("\u2009", " ", "\u202f", " ", "\u00a0", " ").Replace(s))
}
