package simcluster

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// faultCommand lets another process inject faults. It exists only with
// Options.FaultCommand; MongoDB has no such command.
const faultCommand = "simulateFault"

// faultArgs are the arguments of the command: the fields of Rule, with times in
// milliseconds.
type faultArgs struct {
	Command    string
	At         Step
	NS         string
	Nth, Times int
	ForMS      int64 `bson:"forMS"`
	DelayMS    int64 `bson:"delayMS"`
	PatienceMS int64 `bson:"patienceMS"`
	Hold       bool
	Freeze     string
	Other      struct {
		DB      string
		Command bson.D
	}
	Twice    bool
	StepDown bool `bson:"stepDown"`
	Code     int32
	Message  string
	Cut      bool
	GoOn     bool `bson:"goOn"`
	ID       int
	Member   string
}

func (a faultArgs) rule() Rule {
	r := Rule{
		Command: a.Command, At: a.At, NS: a.NS, Nth: a.Nth, Times: a.Times,
		For: milliseconds(a.ForMS), Delay: milliseconds(a.DelayMS), Patience: milliseconds(a.PatienceMS),
		Hold: a.Hold, Freeze: a.Freeze, Twice: a.Twice, StepDown: a.StepDown, Cut: a.Cut, GoOn: a.GoOn,
	}
	if len(a.Other.Command) > 0 {
		r.Do = Other(a.Other.DB, a.Other.Command)
	}
	if a.Code != 0 {
		r.Err = Fail(a.Code)
		if a.Message != "" {
			r.Err.Message = a.Message
		}
	}
	return r
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// simulateFault runs the action in its first field: "add" a rule, "remove" one by id,
// "heal" everything, "freeze" or "thaw" a member, "show" the rules and the recorded
// commands.
func (c *Cluster) simulateFault(_ context.Context, r *engine.Request) (bson.D, error) {
	what, _ := r.Lookup(faultCommand).StringValueOK()
	a, err := parseFault(r.Body)
	if err != nil {
		return nil, err
	}
	f := c.faults
	switch what {
	case "add":
		if !f.validPoint(a) {
			return nil, status.Errorf(status.BadValue, "%s passes no step %q", a.Command, a.At)
		}
		return value.D("id", int32(f.Add(a.rule()).id)), nil
	case "remove":
		p := f.ruleByID(a.ID)
		if p == nil {
			return nil, status.Errorf(status.NoMatchingDocument, "no rule %d is planted", a.ID)
		}
		p.Remove()
	case "heal":
		f.Heal()
	case "freeze", "thaw":
		if a.Member != configShard && !slices.Contains(c.shardNames(), a.Member) {
			return nil, status.Errorf(status.ShardNotFound, "no member %q", a.Member)
		}
		if what == "freeze" {
			f.Freeze(a.Member)
		} else {
			f.Thaw(a.Member)
		}
	case "show":
		return f.show(), nil
	default:
		return nil, status.Errorf(status.BadValue, "%s can't %q: add, remove, heal, freeze, thaw or show", faultCommand, what)
	}
	return bson.D{}, nil
}

func (c *Cluster) shardNames() []string {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	return c.catalog.ShardNames()
}

// parseFault rejects unknown fields and values, because a misspelt rule would silently
// never apply.
func parseFault(body bson.Raw) (a faultArgs, err error) {
	known := []string{
		faultCommand, "command", "at", "ns", "nth", "times", "forMS", "delayMS", "patienceMS", "hold", "freeze", "other",
		"twice", "stepDown", "code", "message", "cut", "goOn", "id", "member", "comment", "maxTimeMS", "lsid",
	}
	for e := value.Read(body); e.Next(); {
		if key := string(e.Key); key[:min(1, len(key))] != "$" && !slices.Contains(known, key) {
			return a, status.Errorf(status.BadValue, "%s has no field %q", faultCommand, key)
		}
	}
	if err := bson.Unmarshal(body, &a); err != nil {
		return a, status.Errorf(status.TypeMismatch, "%s: %s", faultCommand, err.Error())
	}
	return a, nil
}

// validPoint reports whether the step is one that the command passes, as far as that is known.
func (f *Faults) validPoint(a faultArgs) bool {
	if a.At == Received || a.At == Replying {
		return true
	}
	return slices.ContainsFunc(FaultPoints(), func(p FaultPoint) bool {
		moves := (a.Command == "move" || a.Command == "balancer") && p.Command == "moveChunk"
		return p.At == a.At && (a.Command == "" || a.Command == p.Command || moves)
	})
}

func (f *Faults) ruleByID(id int) *Planted {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.rules {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (f *Faults) show() bson.D {
	rules, seen, frozen := bson.A{}, bson.A{}, f.Frozen()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.rules {
		rules = append(rules, value.D("id", int32(p.id), "command", p.rule.Command, "at", string(p.rule.At),
			"struck", int32(p.struck)))
	}
	for _, s := range f.seen[max(0, len(f.seen)-1000):] {
		d := value.D("n", int32(s.N), "at", bson.NewDateTimeFromTime(s.At), "db", s.DB, "name", s.Name, "ns", s.NS)
		d = append(d, value.When(s.Comment.Type != 0, "comment", s.Comment)...)
		seen = append(seen, d)
	}
	return value.D("rules", rules, "frozen", frozen, "hits", int32(len(f.hits)), "seen", seen)
}
