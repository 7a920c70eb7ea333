package offering

import (
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Trier drafts a plan from the state that is known, without asking the cluster
// and without keeping it: engine.Engine.
type Trier interface {
	Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error)
}

// TryPlan drafts a plan from the present state, to tell whether it could run.
type TryPlan func(k actions.Kind, args map[string]json.RawMessage) Trial

// Trial tells whether a plan that was drafted as a test could run.
type Trial struct {
	Why   string // the check that blocks it; "" = it can run
	When  string // when it will be possible, as a sentence; "" where that is not a matter of time
	Back  string // that the balancer will move some of it back, as a sentence; "" where it does not, or that is not known
	Doing bool   // because a run that is not ended makes the same change
	Asks  bool   // an argument is missing or wrong, or it was not tried: left to the form

	Drafted bool                 // moves and hot are known
	Moves   []actions.MoveEffect // what it would move
	Hot     []actions.Span       // chunks of which it would move a half, chosen when the plan is made
}

// untried is the result for a plan that was not tried: a remedy is not offered
// then, and a form that asks for more still is.
func untried() Trial {
	return Trial{Why: "Not tried: too many remedies are listed. Make this plan by hand.", Asks: true}
}

// What trying plans may cost for one state of the cluster. A plan over a large
// collection takes some milliseconds, and a page lists the worst problems first.
const (
	triesMost = 200
	triesTime = time.Second
	triesFor  = 10 * time.Second // some checks are of time
)

// Trials remembers what tried of trying plans, for as long as the table and the
// projects are the same. The zero value is ready.
type Trials struct {
	mu    sync.Mutex
	table *topology.Table
	dir   *placement.Directory
	at    time.Time
	done  map[string]Trial
	spent time.Duration
}

// On tries plans on the state of a page. Without a trier they are drafted from the
// table alone.
func (x *Trials) On(seen answer.View, trier Trier) TryPlan {
	v := seen.Computable()
	return func(k actions.Kind, args map[string]json.RawMessage) Trial {
		raw, err := json.Marshal(args) // sorted by name
		if err != nil {
			return untried()
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if age := v.Now.Sub(x.at); !sameTable(x.table, v.Table) || x.dir != v.Dir || age < 0 || age >= triesFor {
			x.table, x.dir, x.at, x.done, x.spent = v.Table, v.Dir, v.Now, map[string]Trial{}, 0
		}
		key := fmt.Sprint(seen.Hidden) + string(k) + " " + string(raw)
		if known, ok := x.done[key]; ok {
			return known
		}
		if len(x.done) >= triesMost || x.spent >= triesTime {
			return untried()
		}
		begun := time.Now()
		tried := tryOne(v, seen, trier, k, raw)
		x.spent += time.Since(begun)
		x.done[key] = tried
		return tried
	}
}

// sameTable tells whether people see no difference: a table is published with each poll.
func sameTable(a, b *topology.Table) bool {
	return a == b || a != nil && b != nil && a.Seq != 0 && a.Seq == b.Seq && a.ClusterID == b.ClusterID && a.Loaded == b.Loaded
}

func tryOne(v, seen answer.View, trier Trier, k actions.Kind, raw json.RawMessage) Trial {
	args, err := actions.ReadArgs(raw)
	h := seen.Table.Hiding()
	var d actions.Draft
	switch {
	case err != nil:
	case trier != nil:
		d, err = trier.Try(v.Table, v.Dir, k, args)
	default:
		d, err = draftFromTable(v, k, args)
	}
	if err != nil {
		why := fault.Text(err)
		if h != nil { // it may name bounds
			why = h.Text
		}
		return Trial{Why: why, Asks: fault.Of(err) == fault.Invalid}
	}
	out := Trial{Drafted: true, Moves: d.Effect.Moves, Hot: d.Needs.Writes}
	for _, c := range d.Checks {
		if c.ID == actions.CheckUndoByBalancer && c.Verdict == actions.Warn && len(out.Moves) > 0 {
			out.Back = seen.Named(c.Text).String()
		}
	}
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			if h != nil {
				c.Text = answer.HideInMessage(c.Text)
			}
			out.Why, out.Doing = seen.Named(c.Text).String(), c.ID == actions.CheckSameRun
			out.When = whenPossible(v, c)
			break
		}
	}
	return out
}

// draftFromTable drafts a plan in a shardboard that changes nothing: what only the
// engine knows is then unknown.
func draftFromTable(v answer.View, k actions.Kind, args actions.Args) (actions.Draft, error) {
	d, _, err := actions.PlanChange(actions.Situation{
		Table: v.Table, Directory: v.Dir, Profile: v.Profile, Release: balance.ReleaseOf(v.Table.ServerInfo.Version), Now: v.Now,
	}, k, args)
	return d, err
}

// TryAddress tries the plan of a form's address.
func TryAddress(try TryPlan, address string) Trial {
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
	return try(actions.Kind(p.Kind), PlanArguments(p))
}

// whenPossible says when a plan will be possible that a check blocks now; "" where waiting does not help.
func whenPossible(v answer.View, c actions.Check) string {
	switch c.ID {
	case actions.CheckSameRun:
		return "It can be planned again when that run has ended."
	case "competing":
		return "It is possible when that has ended."
	case "migrations-blocked":
		return "It is possible when moves of the collection are allowed."
	case "balancer":
		if b := v.Table.Balancer; b.Moves() && b.Limited() {
			return "It is possible in the balancer's window, " + b.When() + "."
		}
		return "It is possible when the balancer moves chunks again."
	case "index-build":
		return "It is possible when the index is built."
	}
	return ""
}

// PlanArguments are a plan's arguments as its JSON has them. What is not readable
// is left out.
func PlanArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		x, _ := actions.ArgumentNamed(name)
		if raw, err := x.FromText(text); err == nil {
			out[name] = raw
		}
	}
	return out
}

// PlanArgumentsShown are those of a plan that helps, as answers have them.
func PlanArgumentsShown(v answer.View, p rules.Plan) map[string]json.RawMessage {
	args := PlanArguments(p)
	if h := v.Table.Hiding(); h != nil {
		for name := range args {
			if x, _ := actions.ArgumentNamed(name); x.Type == actions.TypeKey || x.Type == actions.TypeBounds || x.Type == actions.TypeZones {
				args[name] = json.RawMessage(h.ExtJSON())
			}
		}
	}
	return args
}
