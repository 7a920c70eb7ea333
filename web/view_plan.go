package web

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

const (
	movesListed = 50
	textShown   = 300 // bytes of a reason or an error
)

// planView is a plan for people. Who looks at it, and what they may, is added by
// planFor.
func planView(v View, p actions.Plan) templates.Plan {
	p = v.plan(p)
	m := templates.Plan{
		ID: p.ID, URL: "/plans/" + p.ID, Hash: p.Hash, Sentence: p.Summary.String(), Kind: kindWord(p.Kind),
		Risk: words.Code("risk", string(p.Risk), nil), RiskText: words.Code("risk.text", string(p.Risk), nil), RiskLevel: riskLevel(p.Risk),
		By: personOf(p.By), Reason: sanitize.Truncate(sanitize.Sentence(p.Reason), textShown),
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
		m.Undo = words.T("plan.undo.not", "text", m.Undo)
	} else if p.Undo.From.After(v.Now) {
		m.UndoWhen = words.T("plan.undo.from", "at", format.Clock(p.Undo.From))
	}
	return m
}

// planFor says what somebody may do with a plan.
func planFor(m templates.Plan, p actions.Plan, who auth.Principal, whyReadOnly string) templates.Plan {
	m.MayRun = who.May(auth.Operator)
	switch {
	case !m.MayRun:
		m.Why, m.Again = words.T("plan.why.role", "need", roleWord(auth.Operator)), nil
	case whyReadOnly != "":
		m.Why = whyReadOnly
	case p.By.ID != who.ID:
		m.Why = words.T("plan.why.others", "by", m.By)
	case p.Blocked():
		m.Why = words.T("plan.why.blocked")
		for _, c := range p.Checks {
			if c.Verdict == actions.Block {
				m.Why += " " + c.Text.String()
			}
		}
	case !who.May(p.Role):
		m.Why = words.T("plan.why.role", "need", roleWord(p.Role))
	case m.Expired:
		m.Why = words.T("plan.expired")
	default:
		m.Again = nil
	}
	return m
}

func riskLevel(r actions.Risk) string {
	switch r {
	case actions.Low:
		return "ok"
	case actions.Medium:
		return "note"
	}
	return "bad"
}

func kindWord(k actions.Kind) string { return words.Code("change", string(k), nil) }

func personOf(p auth.Principal) string {
	if p.Name != "" {
		return sanitize.Truncate(sanitize.Sentence(p.Name), 80)
	}
	return sanitize.Truncate(sanitize.Sentence(p.ID), 80)
}

// planCost are the figures of a plan, and on what those rest that are estimates.
func planCost(e actions.Effect) ([]templates.Fact, string) {
	facts := []templates.Fact{
		{Name: words.T("plan.cost.chunks"), Figure: countFigure(e.Chunks)},
		{Name: words.T("plan.cost.bytes"), Figure: bytesFigure(e.Bytes)},
		{Name: words.T("plan.cost.documents"), Figure: countFigure(e.Documents)},
		{Name: words.T("plan.cost.duration"), Figure: figure(e.Duration, millisText)},
	}
	var basis []string
	for _, f := range []topology.Figure{e.Bytes, e.Duration} {
		if f.Known && !f.Exact && f.Method != "" {
			basis = append(basis, words.Code("method", f.Method, nil)+".")
		}
	}
	return facts, strings.Join(slices.Compact(basis), " ")
}

// millisText is a duration in milliseconds, in words.
func millisText(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d > 0 && d < time.Second {
		return words.T("span.less")
	}
	return format.Span(d)
}

// planShards are the shards before and after, by bytes where they are known and
// else by chunks.
func planShards(v View, shards []actions.ShardEffect) (rows []templates.PlanShard, note string) {
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
	r := refsOf(v.Table)
	for _, s := range shards {
		before, after := sizes(s)
		row := templates.PlanShard{Shard: r.of(s.Shard), Same: before == after && s.ChunksBefore == s.ChunksAfter,
			BeforeBar: share(before, most), AfterBar: share(after, most), Before: bytesFigure(s.BytesBefore), After: bytesFigure(s.BytesAfter),
			Chunks: words.T("plan.chunks", "before", format.Count(s.ChunksBefore), "after", format.Count(s.ChunksAfter))}
		if s.ChunksBefore == s.ChunksAfter {
			row.Chunks = format.Count(s.ChunksBefore)
		}
		rows = append(rows, row)
	}
	if !byBytes && len(rows) > 0 {
		note = words.T("plan.byChunks")
	}
	return rows, note
}

func planMoves(v View, moves []actions.MoveEffect) (rows []templates.PlanMove, more string) {
	r := refsOf(v.Table)
	for i, x := range moves {
		if i == movesListed {
			return rows, words.T("plan.moves.more", "n", format.Count(int64(len(moves)-movesListed)))
		}
		rows = append(rows, templates.PlanMove{NS: string(x.NS), URL: collectionURL(x.NS), Min: boundOf(v.Table, string(x.NS), x.Min),
			Max: boundOf(v.Table, string(x.NS), x.Max), From: r.of(x.From), To: r.of(x.To), Bytes: bytesFigure(x.Bytes)})
	}
	return rows, ""
}

func planStep(i int, s actions.Step, commands []actions.Command) templates.PlanStep {
	out := templates.PlanStep{N: strconv.Itoa(i + 1), What: stepText(s)}
	if i < len(commands) {
		out.Shell = shellCommand(commands[i])
	}
	for _, f := range s.Needs {
		out.Needs = append(out.Needs, needText(f))
	}
	return out
}

// stepText is a step in one sentence.
func stepText(s actions.Step) string {
	code := string(s.Op)
	if s.Op == actions.OpBalancing {
		code += "." + strconv.FormatBool(s.On)
	}
	if s.Op == actions.OpBalancerWindow && s.Start == "" {
		code += ".always"
	}
	switch {
	case s.Pauses && s.NS != "":
		code = "setBalancing.pause"
	case s.Restores && s.NS != "":
		code = "setBalancing.restore"
	case s.Pauses:
		code += ".pause"
	case s.Restores:
		code += ".restore"
	}
	ns := s.NS
	if ns == "" && len(s.Proof) > 0 {
		ns = s.Proof[0].NS
	}
	return sanitize.Sentence(words.Code("op", code, map[string]string{"ns": string(ns), "at": boundText(s.At), "min": boundText(s.Min),
		"max": boundText(s.Max), "shard": s.Shard, "zone": s.Zone, "start": s.Start, "stop": s.Stop}))
}

// needText is a fact with the values that it is to have.
func needText(f actions.Fact) string {
	var fields []string
	for _, name := range sortedFields(f.Want) {
		fields = append(fields, fieldText(name, f.Want[name]))
	}
	return sanitize.Sentence(words.T("fact.needs", "subject", factText(f), "fields", strings.Join(fields, ", ")))
}

func sortedFields(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func fieldWord(name string) string { return words.Code("field", name, nil) }

// fieldText is a field with its value.
func fieldText(name, value string) string {
	switch {
	case name == "exists" && value == "true":
		return words.T("fact.there")
	case name == "exists" && value == "false":
		return words.T("fact.missing")
	}
	return words.T("fact.field", "field", fieldWord(name), "value", valueText(value))
}

// valueText is the value of a fact's field: nothing has a word of its own.
func valueText(v string) string {
	if v == "" {
		return words.T("fact.nothing")
	}
	return sanitize.Truncate(v, textShown)
}

// planChecks are the checks, those that block first, as they come else.
func planChecks(checks []actions.Check) (rows []templates.PlanCheck, counted string) {
	n := map[actions.Verdict]int{}
	for _, verdict := range []actions.Verdict{actions.Block, actions.Warn, actions.Pass} {
		for _, c := range checks {
			if c.Verdict != verdict {
				continue
			}
			n[verdict]++
			rows = append(rows, templates.PlanCheck{Verdict: string(verdict), Word: words.Code("verdict", string(verdict), nil),
				Text: c.Text.String(), Source: c.Source.String()})
		}
	}
	return rows, words.T("plan.counted", "pass", strconv.Itoa(n[actions.Pass]), "warn", strconv.Itoa(n[actions.Warn]), "block", strconv.Itoa(n[actions.Block]))
}

// planAgain is the form that makes the same plan anew.
func planAgain(p actions.Plan) *templates.Again {
	if p.UndoOf != "" {
		return &templates.Again{URL: "/runs/" + p.UndoOf + "/undo", Fields: []templates.Hidden{{Name: "reason", Value: p.Reason}}}
	}
	out := &templates.Again{URL: "/plans", Fields: []templates.Hidden{{Name: "kind", Value: string(p.Kind)}, {Name: "reason", Value: p.Reason}}}
	raw, err := json.Marshal(argsOf(p.Args))
	if err != nil {
		return nil
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil {
		return nil
	}
	for _, name := range argNames() {
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
func runOfPlan(m templates.Plan, run engine.Run) templates.Plan {
	m.RunURL, m.RunWord, m.Again, m.Why = "/runs/"+run.ID, stateWord(run.State), nil, ""
	return m
}
