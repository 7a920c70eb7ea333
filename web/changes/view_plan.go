package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// planView is a plan for people. Who looks at it, and what they may, is added by
// planFor.
func planView(v answer.View, p actions.Plan) Plan {
	p = v.Plan(p)
	m := Plan{
		ID: p.ID, URL: "/plans/" + p.ID, Hash: p.Hash, Sentence: p.Summary.String(), Kind: answer.KindWord(p.Kind),
		Risk: words.Code("risk", string(p.Risk), nil), RiskText: words.Code("risk.text", string(p.Risk), nil), RiskLevel: answer.RiskLevel(p.Risk),
		By: answer.PersonOf(p.By), Reason: sanitize.Truncate(sanitize.Sentence(p.Reason), answer.TextShown),
		Made: templates.Ago(p.Made, v.Now), Expires: templates.Moment{At: p.Expires}, Expired: !v.Now.Before(p.Expires),
		Confirm: p.Confirm, Again: planAgain(p),
	}
	if p.UndoOf != "" {
		m.UndoOf = "/runs/" + p.UndoOf
	}
	m.Cost, m.Basis = planCost(p.Effect)
	m.Shards, m.ShardNote = planShards(v, p.Effect.Shards)
	m.Writes = planWrites(v, p.Effect.Writes)
	m.Moves, m.MoreMoves = planMoves(v, p.Effect.Moves)
	for i, s := range p.Steps {
		m.Steps = append(m.Steps, planStep(i, s, p.Commands))
	}
	m.Checks, m.Counted = planChecks(p.Checks)
	for _, s := range p.Effect.Stays {
		m.Stays = append(m.Stays, s.String())
	}
	m.Limits = limitsText(p.Limits)
	m.Undo = p.Undo.Text.String()
	if !p.Undo.Possible {
		m.Undo = "It cannot be undone. " + m.Undo
	} else if p.Undo.From.After(v.Now) {
		m.UndoWhen = "Works from " + format.Clock(p.Undo.From) + ": before, the shards still clean up."
	}
	return m
}

// planFor says what somebody may do with a plan.
func planFor(m Plan, p actions.Plan, who auth.Principal, whyReadOnly string) Plan {
	m.MayRun = who.May(auth.Operator)
	switch {
	case !m.MayRun:
		m.Why, m.Again = "To run it needs the role "+parts.RoleWord(auth.Operator)+".", nil
	case whyReadOnly != "":
		m.Why = whyReadOnly
	case p.By.ID != who.ID:
		m.Why = "This plan is " + m.By + "’s. Make one of your own: it is checked afresh."
	case p.Blocked():
		m.Why = "A check forbids it."
		for _, c := range p.Checks {
			if c.Verdict == actions.Block {
				m.Why += " " + c.Text.String()
			}
		}
	case !who.May(p.Role):
		m.Why = "To run it needs the role " + parts.RoleWord(p.Role) + "."
	case m.Expired:
		m.Why = "This plan has expired. Make it again."
	default:
		m.Again = nil
	}
	return m
}

// planCost are the figures of a plan, and on what those rest that are estimates.
func planCost(e actions.Effect) ([]templates.Fact, string) {
	facts := []templates.Fact{
		{Name: "Chunks cut or moved", Figure: parts.CountFigure(e.Chunks)},
		{Name: "Data that moves", Figure: parts.BytesFigure(e.Bytes)},
		{Name: "Documents that move", Figure: parts.CountFigure(e.Documents)},
		{Name: "Takes about", Figure: parts.Figure(e.Duration, answer.MillisText)},
	}
	var basis []string
	for _, f := range []topology.Figure{e.Bytes, e.Duration} {
		if f.Known && !f.Exact && f.Method != "" {
			basis = append(basis, topology.MethodText(f.Method)+".")
		}
	}
	return facts, strings.Join(slices.Compact(basis), " ")
}

// planShards are the shards before and after, by bytes where they are known and
// else by chunks.
func planShards(v answer.View, shards []actions.ShardEffect) (rows []PlanShard, note string) {
	byBytes := true
	for _, s := range shards {
		byBytes = byBytes && s.BytesBefore.Known && s.BytesAfter.Known
	}
	most := int64(1)
	sizes := func(s actions.ShardEffect) (before, after int64) {
		if byBytes {
			return s.BytesBefore.Value, s.BytesAfter.Value
		}
		return s.ChunksBefore, s.ChunksAfter
	}
	for _, s := range shards {
		before, after := sizes(s)
		most = max(most, before, after)
	}
	r := parts.RefsOf(v.Table)
	for _, s := range shards {
		before, after := sizes(s)
		row := PlanShard{Shard: r.Of(s.Shard), Same: before == after && s.ChunksBefore == s.ChunksAfter,
			BeforeBar: answer.Share(before, most), AfterBar: answer.Share(after, most), Before: parts.BytesFigure(s.BytesBefore), After: parts.BytesFigure(s.BytesAfter),
			Chunks: fmt.Sprintf("%s → %s", format.Count(s.ChunksBefore), format.Count(s.ChunksAfter))}
		if s.ChunksBefore == s.ChunksAfter {
			row.Chunks = format.Count(s.ChunksBefore)
		}
		rows = append(rows, row)
	}
	if !byBytes && len(rows) > 0 {
		note = "Bars by chunks: not all sizes are known."
	}
	return rows, note
}

func planMoves(v answer.View, moves []actions.MoveEffect) (rows []PlanMove, more string) {
	r := parts.RefsOf(v.Table)
	for i, x := range moves {
		if i == answer.MovesListed {
			return rows, format.Count(int64(len(moves)-answer.MovesListed)) + " more are not listed; the API has all."
		}
		rows = append(rows, PlanMove{NS: string(x.NS), URL: answer.CollectionURL(x.NS), Min: parts.BoundOf(v.Table, string(x.NS), x.Min),
			Max: parts.BoundOf(v.Table, string(x.NS), x.Max), From: r.Of(x.From), To: r.Of(x.To), Bytes: parts.BytesFigure(x.Bytes)})
	}
	return rows, ""
}

func planStep(i int, s actions.Step, commands []actions.Command) PlanStep {
	out := PlanStep{N: strconv.Itoa(i + 1), What: answer.StepText(s)}
	if i < len(commands) {
		out.Shell = answer.ShellCommand(commands[i])
	}
	for _, f := range s.Needs {
		out.Needs = append(out.Needs, answer.NeedText(f))
	}
	return out
}

// planChecks are the checks, those that block first, as they come else.
func planChecks(checks []actions.Check) (rows []PlanCheck, counted string) {
	n := map[actions.Verdict]int{}
	for _, verdict := range []actions.Verdict{actions.Block, actions.Warn, actions.Pass} {
		for _, c := range checks {
			if c.Verdict != verdict {
				continue
			}
			n[verdict]++
			rows = append(rows, PlanCheck{Verdict: string(verdict), Word: words.Code("verdict", string(verdict), nil),
				Text: c.Text.String(), Source: c.Source.String()})
		}
	}
	return rows, fmt.Sprintf("%s pass, %s warn, %s block", strconv.Itoa(n[actions.Pass]), strconv.Itoa(n[actions.Warn]), strconv.Itoa(n[actions.Block]))
}

// planAgain is the form that makes the same plan anew.
func planAgain(p actions.Plan) *Again {
	if p.UndoOf != "" {
		return &Again{URL: "/runs/" + p.UndoOf + "/undo", Fields: []templates.Hidden{{Name: "reason", Value: p.Reason}}}
	}
	out := &Again{URL: "/plans", Fields: []templates.Hidden{{Name: "kind", Value: string(p.Kind)}, {Name: "reason", Value: p.Reason}}}
	raw, err := json.Marshal(answer.ArgsOf(p.Args))
	if err != nil {
		return nil
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil {
		return nil
	}
	for _, name := range answer.ArgNames() {
		value, given := named[name]
		if !given || string(value) == "null" {
			continue
		}
		text := string(value)
		var s string
		var several []string
		if json.Unmarshal(value, &s) == nil {
			text = s
		} else if name == "chunks" && json.Unmarshal(value, &several) == nil {
			text = strings.Join(several, " ")
		}
		out.Fields = append(out.Fields, templates.Hidden{Name: name, Value: text})
	}
	return out
}

// runOfPlan shows that a plan has been run.
func runOfPlan(m Plan, run engine.Run) Plan {
	m.RunURL, m.RunWord, m.Again, m.Why = "/runs/"+run.ID, answer.StateWord(run.State), nil, ""
	return m
}
