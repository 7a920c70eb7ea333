package answer

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Trier drafts a plan from the state that is known, without asking the cluster
// and without keeping it: engine.Engine.
type Trier interface {
	Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error)
}

// TryPlan tells what would come of a plan now.
type TryPlan func(k actions.Kind, args map[string]json.RawMessage) Trial

// Trial is what came of trying a plan.
type Trial struct {
	Why  string // the check that blocks it; "" = it can run
	Asks bool   // an argument is missing or wrong, or it was not tried: left to the form
}

// What trying plans may cost for one state of the cluster. A plan over a large
// collection takes some milliseconds, and a page lists the worst problems first.
const (
	TriesMost = 200
	TriesTime = time.Second
	TriesFor  = 10 * time.Second // some checks are of time
)

// Untried is what is said of a plan that was not tried: a remedy is not offered
// then, and a form that asks for more still is.
func Untried() Trial {
	return Trial{Why: "Not tried: too many remedies are listed. Make this plan by hand.", Asks: true}
}

// SameTable tells whether nothing that people see differs: a table is published
// with each poll.
func SameTable(a, b *topology.Table) bool {
	return a == b || a != nil && b != nil && a.Seq != 0 && a.Seq == b.Seq && a.ClusterID == b.ClusterID && a.Loaded == b.Loaded
}

// Trials remembers what came of trying plans on one table.
type Trials struct {
	Mu    sync.Mutex
	Table *topology.Table
	Dir   *placement.Directory
	At    time.Time
	Done  map[string]Trial
	Spent time.Duration
}

// TryKnown drafts a plan where nothing is changed from here: what the engine
// knows beside the table is then unknown.
func TryKnown(v View, k actions.Kind, args actions.Args) (actions.Draft, error) {
	planner := actions.Planners()[k]
	if planner == nil {
		return actions.Draft{}, fault.New(fault.Invalid, "There is no kind of plan called %q.", string(k))
	}
	d, _, err := planner(actions.Situation{
		Table: v.Table, Directory: v.Dir, Profile: v.Profile, Release: balance.ReleaseOf(v.Table.ServerInfo.Version), Now: v.Now,
	}, args)
	return d, err
}

// addRemedies adds the plans whose own checks pass, those that are blocked with the
// reason, and why there is no plan.
func addRemedies(out *api.Advice, v View, p rules.Problem, may AdviceMay) {
	out.WhyNot = p.Remedy.WhyNot.At(v.Now)
	for _, plan := range p.Remedy.Plans {
		one := api.AdvicePlan{Kind: plan.Kind, Args: v.planArguments(plan), Text: plan.Text.At(v.Now)}
		if one.Why = may.Try(actions.Kind(plan.Kind), planArguments(plan)).Why; one.Why != "" {
			out.Refused = append(out.Refused, one)
			continue
		}
		if may.Plan {
			one.URL = remedyURL(plan, p.Text.At(v.Now))
		}
		out.Plans = append(out.Plans, one)
	}
	if len(out.Plans) == 0 && out.WhyNot == "" && len(out.Refused) > 0 {
		out.WhyNot = "No plan helps as things are: each is blocked for the reason given."
	}
}

// remedyURL is the filled-in form of a plan, with the problem as its reason.
func remedyURL(p rules.Plan, reason string) string {
	pairs := []string{"reason", sanitize.Truncate(reason, 400)}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		pairs = append(pairs, name, p.Args[name])
	}
	return PlanURL(actions.Kind(p.Kind), pairs...)
}

// planArguments are a plan's arguments as its JSON has them. What is not readable
// is left out.
func planArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		x, _ := actions.ArgumentNamed(name)
		if raw, err := x.FromText(text); err == nil {
			out[name] = raw
		}
	}
	return out
}

// TryAddress tries the plan of a form's address.
func TryAddress(try TryPlan, address string) Trial {
	u, err := url.Parse(address)
	if err != nil {
		return Untried()
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
