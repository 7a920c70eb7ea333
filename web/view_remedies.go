package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// Trier drafts a plan from the state that is known, without asking the cluster
// and without keeping it: engine.Engine.
type Trier interface {
	Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error)
}

// tryPlan tells what would come of a plan now.
type tryPlan func(k actions.Kind, args map[string]json.RawMessage) trial

// trial is what came of trying a plan.
type trial struct {
	why  string // the check that blocks it; "" = it can run
	asks bool   // an argument is missing or wrong, or it was not tried: left to the form
}

// What trying plans may cost for one state of the cluster. A plan over a large
// collection takes some milliseconds, and a page lists the worst problems first.
const (
	triesMost = 200
	triesTime = time.Second
	triesFor  = 10 * time.Second // some checks are of time
)

// untried is what is said of a plan that was not tried: a remedy is not offered
// then, and a form that asks for more still is.
func untried() trial { return trial{why: words.T("advice.untried"), asks: true} }

// sameTable tells whether nothing that people see differs: a table is published
// with each poll.
func sameTable(a, b *topology.Table) bool {
	return a == b || a != nil && b != nil && a.Seq != 0 && a.Seq == b.Seq && a.ClusterID == b.ClusterID && a.Loaded == b.Loaded
}

// trials remembers what came of trying plans on one table.
type trials struct {
	mu    sync.Mutex
	table *topology.Table
	dir   *placement.Directory
	at    time.Time
	done  map[string]trial
	spent time.Duration
}

// tries is how plans are tried on the state of a page. What was tried once is
// remembered for as long as the table and the projects are the same.
func (s *Site) tries(seen View) tryPlan {
	v := seen.computable()
	return func(k actions.Kind, args map[string]json.RawMessage) trial {
		raw, err := json.Marshal(args) // sorted by name
		if err != nil {
			return untried()
		}
		x := &s.trials
		x.mu.Lock()
		defer x.mu.Unlock()
		if age := v.Now.Sub(x.at); !sameTable(x.table, v.Table) || x.dir != v.Dir || age < 0 || age >= triesFor {
			x.table, x.dir, x.at, x.done, x.spent = v.Table, v.Dir, v.Now, map[string]trial{}, 0
		}
		key := fmt.Sprint(seen.Hidden) + string(k) + " " + string(raw)
		if known, ok := x.done[key]; ok {
			return known
		}
		if len(x.done) >= triesMost || x.spent >= triesTime {
			return untried()
		}
		begun := time.Now()
		came := s.tryOne(v, seen.Table.Hiding(), k, raw)
		x.spent += time.Since(begun)
		x.done[key] = came
		return came
	}
}

func (s *Site) tryOne(v View, h *shardkey.Hiding, k actions.Kind, raw json.RawMessage) trial {
	args, err := planArgs(raw)
	var d actions.Draft
	switch {
	case err != nil:
	case s.deps.Trier != nil:
		d, err = s.deps.Trier.Try(v.Table, v.Dir, k, args)
	default:
		d, err = tryKnown(v, k, args)
	}
	if err != nil {
		why := fault.Text(err)
		if h != nil { // it may name bounds
			why = h.Text
		}
		return trial{why: why, asks: fault.Of(err) == fault.Invalid}
	}
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			if h != nil {
				c.Text = hideInMessage(c.Text)
			}
			return trial{why: c.Text.String()}
		}
	}
	return trial{}
}

// tryKnown drafts a plan where nothing is changed from here: what the engine
// knows beside the table is then unknown.
func tryKnown(v View, k actions.Kind, args actions.Args) (actions.Draft, error) {
	planner := actions.Planners()[k]
	if planner == nil {
		return actions.Draft{}, fault.New(fault.Invalid, "There is no kind of plan called %q.", string(k))
	}
	d, _, err := planner(actions.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Release: balance.ReleaseOf(v.Table.ServerInfo.Version), Now: v.Now}, args)
	return d, err
}

// mayPlan tells whether somebody is offered forms of plans.
func (s *Site) mayPlan(who auth.Principal) bool { return s.deps.PlanForms && who.May(auth.Operator) }

// whyNoPlan says why somebody is not offered forms of plans; "" where they are.
func (s *Site) whyNoPlan(who auth.Principal) string {
	switch {
	case !s.deps.PlanForms:
		return words.T("advice.noplans.off")
	case !who.May(auth.Operator):
		return words.T("advice.noplans.role")
	}
	return ""
}

// remedy is one plan that would help.
type remedy struct {
	plan      rules.Plan
	text, url string
	why       string // it cannot be run now
}

// remedies are what helps a problem: plans whose own checks pass, those that do
// not with the reason, and why there is no plan.
type remedies struct {
	offered, refused []remedy
	whyNot           string
}

func remediesOf(v View, p rules.Problem, may adviceMay) remedies {
	out := remedies{whyNot: p.Remedy.WhyNot.At(v.Now)}
	for _, plan := range p.Remedy.Plans {
		one := remedy{plan: plan, text: plan.Text.At(v.Now)}
		if one.why = may.try(actions.Kind(plan.Kind), planArguments(plan)).why; one.why != "" {
			out.refused = append(out.refused, one)
			continue
		}
		if may.plan {
			one.url = remedyURL(plan, p.Text.At(v.Now))
		}
		out.offered = append(out.offered, one)
	}
	if len(out.offered) == 0 && out.whyNot == "" && len(out.refused) > 0 {
		out.whyNot = words.T("advice.not.allRefused")
	}
	return out
}

// remedyURL is the filled-in form of a plan, with the problem as its reason.
func remedyURL(p rules.Plan, reason string) string {
	pairs := []string{"reason", sanitize.Truncate(reason, 400)}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		pairs = append(pairs, name, p.Args[name])
	}
	return planURL(actions.Kind(p.Kind), pairs...)
}

// tryAddress tries the plan of a form's address.
func tryAddress(try tryPlan, address string) trial {
	u, err := url.Parse(address)
	if err != nil {
		return untried()
	}
	p := rules.Plan{Args: map[string]string{}}
	for name, values := range u.Query() {
		switch name {
		case "kind":
			p.Kind = values[0]
		case "reason":
		default:
			p.Args[name] = values[0]
		}
	}
	return try(actions.Kind(p.Kind), planArguments(p))
}

// obey takes away the links to plans that their own checks would not let run, and
// says why instead.
func obey(chunks []templates.HeatChunk, try tryPlan) {
	for i := range chunks {
		if chunks[i].PlanURL == "" {
			continue
		}
		if came := tryAddress(try, chunks[i].PlanURL); came.why != "" {
			chunks[i].PlanURL, chunks[i].PlanText = "", words.T("heat.plan.refused", "why", came.why)
		}
	}
}
