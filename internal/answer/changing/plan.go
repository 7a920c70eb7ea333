// Package changing answers what plans, batches and runs are, as far as the reader may see them. It starts nothing.
package changing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// PlanOf is a plan, as far as those who look may see it.
func PlanOf(v answer.View, p actions.Plan) api.Plan {
	p = v.Plan(p)
	out := api.Plan{
		ID: p.ID, Hash: p.Hash, Kind: string(p.Kind), Args: api.PlanArgs{RawMessage: p.Args.JSON()},
		Summary:  api.Timeless(v.Named(p.Summary)),
		Commands: []api.PlanCommand{}, Preconditions: []api.Precondition{}, Checks: checksNamed(v, p.Checks), Effect: effectOf(v, p.Effect),
		Undo: undoOf(v, p.Undo),
		Risk: string(p.Risk), Role: string(p.Role), Blocked: p.Blocked(), Reason: p.Reason, By: p.By.ID, ByName: personOf(p.By),
		MadeAt: api.Time(p.Made), ExpiresAt: api.Time(p.Expires), UndoOf: p.UndoOf, Limits: limitsOf(p.Limits),
		Title: api.Timeless(changeHeading(v.Named(p.Summary))), Outline: append(outlineOf(p.Steps), batchLines(p)...),
	}
	if p.Confirm != "" {
		out.Confirm = &p.Confirm
	}
	for i, s := range p.Steps {
		c := api.PlanCommand{Op: string(s.Op), Message: v.Named(s.Text())}
		if i < len(p.Commands) {
			c.DB, c.Command, c.Shell = p.Commands[i].DB, api.Document(p.Commands[i].Doc), MongoshCommand(p.Commands[i])
		}
		out.Commands = append(out.Commands, c)
		for _, f := range s.Needs {
			out.Preconditions = append(out.Preconditions, api.Precondition{Step: i, Kind: string(f.Kind), NS: string(f.NS),
				Min: api.Document(f.Min), Max: api.Document(f.Max), Shard: f.Shard, Zone: f.Zone, Want: f.Want})
		}
	}
	return out
}

// PlanTitle is the title of a plan's page, as far as those who look may see it.
func PlanTitle(v answer.View, p actions.Plan) string {
	return changeHeading(v.Named(v.Plan(p).Summary)).String()
}

// ChecksOf are the checks of a plan.
func ChecksOf(checks []actions.Check) []api.PlanCheck {
	return answer.Map(checks, func(c actions.Check) api.PlanCheck {
		return api.PlanCheck{ID: c.ID, Verdict: string(c.Verdict), Text: api.Timeless(c.Text), Source: c.Source.String()}
	})
}

// checksNamed are the checks of a plan with projects' names beside the keys.
func checksNamed(v answer.View, checks []actions.Check) []api.PlanCheck {
	checks = slices.Clone(checks)
	for i := range checks {
		checks[i].Text = v.Named(checks[i].Text)
	}
	out := ChecksOf(checks)
	for i, c := range checks {
		out[i].Plans = suggestionsOf(v, c.Plans)
	}
	return out
}

func effectOf(v answer.View, e actions.Effect) api.Effect {
	out := api.Effect{
		Chunks: answer.FigureOf(e.Chunks), Documents: answer.FigureOf(e.Documents), Bytes: answer.FigureOf(e.Bytes),
		DurationMillis: answer.FigureOf(e.Duration),
		Moves:          answer.Map(e.Moves, func(m actions.MoveEffect) api.PlanMove { return planMoveOf(v, m) }), Shards: []api.ShardEffect{},
		Stays: answer.Map(e.Stays, func(m message.Message) api.Sentence { return api.Timeless(v.Named(m)) }),
	}
	if b := e.ByBalancer; b != nil {
		out.ByBalancer = &api.BalancerEffect{Chunks: answer.FigureOf(b.Chunks), Bytes: answer.FigureOf(b.Bytes)}
	}
	for _, s := range e.Shards {
		out.Shards = append(out.Shards, api.ShardEffect{Shard: s.Shard, ChunksBefore: s.ChunksBefore, ChunksAfter: s.ChunksAfter,
			BytesBefore: answer.FigureOf(s.BytesBefore), BytesAfter: answer.FigureOf(s.BytesAfter)})
	}
	for _, w := range e.Writes {
		out.Writes = append(out.Writes, api.WriteEffect{Shard: w.Shard, PerSecondBefore: w.Before, PerSecondAfter: w.After})
	}
	return out
}

func planMoveOf(v answer.View, m actions.MoveEffect) api.PlanMove {
	from, until := v.ProjectsOfRange(m.NS, m.Min, m.Max)
	return api.PlanMove{NS: string(m.NS), Min: api.Document(m.Min), Max: api.Document(m.Max), From: m.From, To: m.To, Or: m.Or,
		Bytes: answer.FigureOf(m.Bytes), Documents: answer.FigureOf(m.Documents), DurationMillis: answer.FigureOf(m.Duration),
		KeyProject: from, Until: until}
}

// RecipientsText names the shards that a move may go to.
func RecipientsText(m api.PlanMove) string {
	return strings.Join(append([]string{m.To}, m.Or...), " or ")
}

// OfRange reports whether a move is of a range; else it is of a whole collection.
func OfRange(m api.PlanMove) bool { return len(m.Min) > 0 && string(m.Min) != "null" }

// OfRanges reports whether any of the moves is of a range.
func OfRanges(moves []api.PlanMove) bool { return slices.ContainsFunc(moves, OfRange) }

func undoOf(v answer.View, u actions.Undo) api.Undo {
	out := api.Undo{Possible: u.Possible, Text: api.Timeless(v.Named(u.Text)), From: api.Time(u.From), Kind: string(u.Kind)}
	if u.Kind != "" {
		out.Args = &api.PlanArgs{RawMessage: u.Args.JSON()}
	}
	return out
}

// DifferencesOf are what is not as it was planned.
func DifferencesOf(ds []operation.Difference) []api.Difference {
	return answer.Map(ds, func(d operation.Difference) api.Difference {
		f := d.Fact
		return api.Difference{Kind: string(f.Kind), NS: string(f.NS), Min: api.Document(f.Min), Max: api.Document(f.Max),
			Shard: f.Shard, Zone: f.Zone, Field: d.Field, Want: d.Want, Got: d.Got, Text: api.Timeless(d.Text())}
	})
}

// differencesNamed are differences with projects' names beside the keys.
func differencesNamed(v answer.View, ds []operation.Difference) []api.Difference {
	out := DifferencesOf(ds)
	for i, d := range ds {
		out[i].Text = api.Timeless(DifferenceMessage(v, d))
	}
	return out
}

// DifferenceMessage is a difference whose subject has its own facts, with projects' names beside the keys.
func DifferenceMessage(v answer.View, d operation.Difference) message.Message {
	m, subject := d.Text(), v.Named(d.Fact.Subject())
	if len(d.Fact.Min) == 0 && d.Fact.Zone == "" {
		return m
	}
	m.Pattern = strings.Replace(m.Pattern, "{subject}", subject.Pattern, 1)
	for _, f := range subject.Facts {
		m = m.With(f)
	}
	return m
}

// limitsOf is what a run of the plan may change.
func limitsOf(l operation.Limits) api.Limits {
	return api.Limits{
		Collections: answer.Map(l.Collections, answer.NamespaceText), Project: l.Project,
		Zones: append([]string{}, l.Zones...), Shards: append([]string{}, l.Shards...), Chunks: l.Chunks, Bytes: answer.FigureOf(l.Bytes),
	}
}

// personOf is how a plan names who made it.
func personOf(p auth.Principal) string { return answer.PersonText(cmp.Or(p.NameAndOwner(), p.ID)) }

// MillisText is a duration in milliseconds as people read it.
func MillisText(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d > 0 && d < time.Second {
		return "less than 1 s"
	}
	return format.Span(d)
}
