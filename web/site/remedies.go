package site

import (
	"encoding/json"
	"fmt"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// Tries is how plans are tried on the state of a page. What was tried once is
// remembered for as long as the table and the projects are the same.
func (s *Site) Tries(seen answer.View) answer.TryPlan {
	v := seen.Computable()
	return func(k actions.Kind, args map[string]json.RawMessage) answer.Trial {
		raw, err := json.Marshal(args) // sorted by name
		if err != nil {
			return answer.Untried()
		}
		x := &s.trials
		x.Mu.Lock()
		defer x.Mu.Unlock()
		if age := v.Now.Sub(x.At); !answer.SameTable(x.Table, v.Table) || x.Dir != v.Dir || age < 0 || age >= answer.TriesFor {
			x.Table, x.Dir, x.At, x.Done, x.Spent = v.Table, v.Dir, v.Now, map[string]answer.Trial{}, 0
		}
		key := fmt.Sprint(seen.Hidden) + string(k) + " " + string(raw)
		if known, ok := x.Done[key]; ok {
			return known
		}
		if len(x.Done) >= answer.TriesMost || x.Spent >= answer.TriesTime {
			return answer.Untried()
		}
		begun := time.Now()
		came := s.tryOne(v, seen.Table.Hiding(), k, raw)
		x.Spent += time.Since(begun)
		x.Done[key] = came
		return came
	}
}

func (s *Site) tryOne(v answer.View, h *shardkey.Hiding, k actions.Kind, raw json.RawMessage) answer.Trial {
	args, err := actions.ReadArgs(raw)
	var d actions.Draft
	switch {
	case err != nil:
	case s.Deps.Trier != nil:
		d, err = s.Deps.Trier.Try(v.Table, v.Dir, k, args)
	default:
		d, err = answer.TryKnown(v, k, args)
	}
	if err != nil {
		why := fault.Text(err)
		if h != nil { // it may name bounds
			why = h.Text
		}
		return answer.Trial{Why: why, Asks: fault.Of(err) == fault.Invalid}
	}
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			if h != nil {
				c.Text = answer.HideInMessage(c.Text)
			}
			return answer.Trial{Why: c.Text.String()}
		}
	}
	return answer.Trial{}
}

// MayPlan tells whether somebody is offered forms of plans.
func (s *Site) MayPlan(who auth.Principal) bool { return s.Deps.PlanForms && who.May(auth.Operator) }

// WhyNoPlan says why somebody is not offered forms of plans; "" where they are.
func (s *Site) WhyNoPlan(who auth.Principal) string {
	switch {
	case !s.Deps.PlanForms:
		return "Remedies are listed without links: this shardboard may not change the cluster (--actions=off)."
	case !who.May(auth.Operator):
		return "Remedies are listed without links: making a plan needs the role operator."
	}
	return ""
}
