package changing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// RequestedText says who requested a plan or a run, and why.
func RequestedText(name, id, reason string) string {
	return "Requested by " + answer.PersonText(cmp.Or(name, id)) + ". Reason: " + answer.ReasonText(reason)
}

// SortChecks are the checks of a plan that block it or warn, those that block first, and
// the checks that pass.
func SortChecks(checks []api.PlanCheck) (open, passed []api.PlanCheck) {
	order := []string{string(actions.Block), string(actions.Warn)}
	for _, c := range checks {
		if c.Verdict == string(actions.Pass) {
			passed = append(passed, c)
		} else {
			open = append(open, c)
		}
	}
	slices.SortStableFunc(open, func(a, b api.PlanCheck) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	return open, passed
}

// PassedText counts the checks that pass.
func PassedText(n int) string {
	return message.Plural(n, "1 check passed", format.Count(int64(n))+" checks passed")
}

// MovesText counts the ranges that a plan moves.
func MovesText(moves []api.PlanMove) string {
	n := len(moves)
	if !OfRanges(moves) {
		return message.Plural(n, "The collection that moves", "The "+format.Count(int64(n))+" collections that move")
	}
	return message.Plural(n, "The range that moves", "The "+format.Count(int64(n))+" ranges that move")
}

// CommandsText counts the commands of a plan.
func CommandsText(n int) string {
	return message.Plural(n, "1 step", format.Count(int64(n))+" steps")
}

// ChecksText counts the checks of a plan by verdict.
func ChecksText(checks []api.PlanCheck) string {
	n := map[actions.Verdict]int{}
	for _, c := range checks {
		n[actions.Verdict(c.Verdict)]++
	}
	blocking := message.Plural(n[actions.Block], "1 blocks", fmt.Sprintf("%d block", n[actions.Block]))
	if n[actions.Block] == 0 {
		blocking = "none blocks"
	}
	return fmt.Sprintf("%d passed, %d %s, %s", n[actions.Pass], n[actions.Warn],
		message.Plural(n[actions.Warn], "warning", "warnings"), blocking)
}

// Preconditions are what is read again right before a command of a plan is sent.
func Preconditions(v answer.View, p api.Plan, command int) (out []message.Message) {
	for _, c := range p.Preconditions {
		if c.Step == command {
			f := factNamed(c.Kind, c.NS, c.Min, c.Max, c.Shard, c.Zone)
			f.Want = c.Want
			m := v.Named(f.Subject())
			m.Pattern += "{want}"
			out = append(out, m.With(message.Words("want", strings.TrimPrefix(f.Text(), f.Subject().String()))))
		}
	}
	return out
}

// EstimatedFrom says what the size and the duration of a plan are estimated from.
func EstimatedFrom(e api.Effect) string {
	var out []string
	for _, f := range []api.Figure{e.Bytes, e.DurationMillis} {
		if f.Value != nil && !f.Exact && f.Method != "" {
			out = append(out, topology.MethodText(f.Method)+".")
		}
	}
	return strings.Join(slices.Compact(out), " ")
}

// LimitBytesText is the largest amount of data that a run may have left to move.
func LimitBytesText(l api.Limits) string {
	if l.Bytes.Value == nil {
		return "not known; no limit"
	}
	return format.Bytes(*l.Bytes.Value)
}

// UndoMessages say how the run of a plan is undone, and from when if that is later than now.
func UndoMessages(u api.Undo, now time.Time) []message.Message {
	how := u.Text.Message
	if !u.Possible {
		if how.Code != "redo" && !strings.HasPrefix(how.Pattern, "Cannot be undone") { // many a reason says so itself
			how.Pattern = "It cannot be undone. " + how.Pattern
		}
		return []message.Message{how}
	}
	out := []message.Message{how}
	if u.From != nil && u.From.After(now) {
		out = append(out, message.New("undo.from", "Possible from {from} on: until then, the shards are still cleaning up.",
			message.Words("from", format.Clock(*u.From))))
	}
	return out
}

// Expired tells whether it is too late to run a plan.
func Expired(p api.Plan, now time.Time) bool { return p.ExpiresAt == nil || !now.Before(*p.ExpiresAt) }

// PlanExpired says that it is too late to run a plan.
const PlanExpired = "This plan has expired. Make a new one."

// PlanMay is what somebody may do with a plan.
type PlanMay struct {
	Run    bool   // this person may run plans; the button is off if WhyNot says so
	WhyNot string // why this plan cannot be run; "" if it can
	Again  bool   // making the plan again may help
}

// PlanMayOf tells what somebody may do with a plan. readOnly is why nothing can be
// changed at all.
func PlanMayOf(p api.Plan, who auth.Principal, readOnly string, now time.Time) PlanMay {
	if !who.May(auth.Operator) {
		return PlanMay{WhyNot: needsRole(auth.Operator)}
	}
	out := PlanMay{Run: true, Again: true}
	switch {
	case readOnly != "":
		out.WhyNot = readOnly
	case p.By != who.ID:
		out.WhyNot = "This plan was made by " + answer.PersonText(cmp.Or(p.ByName, p.By)) + ". Make your own plan; it is checked again."
	case p.Blocked:
		out.WhyNot = blockedText(p)
	case !who.May(auth.Role(p.Role)):
		out.WhyNot = needsRole(auth.Role(p.Role))
	case Expired(p, now):
		out.WhyNot = PlanExpired
	case p.Approval.State == string(engine.ApprovalVoid):
		out.WhyNot = ApprovalText(p.Approval)
	default:
		out.Again = false
	}
	return out
}

func needsRole(role auth.Role) string { return "Running it needs the role " + role.Label() + "." }

// blockedText says what forbids to run a plan; the checks are listed beside it.
func blockedText(p api.Plan) string {
	var blocking []string
	for _, c := range p.Checks {
		if c.Verdict == string(actions.Block) {
			blocking = append(blocking, c.Text.String())
		}
	}
	switch len(blocking) {
	case 0:
		return "A check blocks this plan."
	case 1:
		return "A check blocks this plan. " + blocking[0]
	}
	return fmt.Sprintf("%d checks block this plan. The first: %s", len(blocking), blocking[0])
}
