package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// fixedSizes are the same for every range; -1: they cannot be measured.
type fixedSizes struct{ bytes atomic.Int64 }

func (s *fixedSizes) RangeSize(context.Context, *topology.Collection, shardkey.Range, bool) (topology.RangeSize, error) {
	n := s.bytes.Load()
	if n < 0 {
		return topology.RangeSize{}, fault.New(fault.Unavailable, "It takes too long.")
	}
	return topology.RangeSize{Bytes: n, Documents: 100, Exact: true, At: time.Now()}, nil
}

// What an approved plan moves may double, or grow to 64 MB, until it is run. A plan that needed no
// approval may not grow into one that needs it.
func TestApprovedPlanMayNotGrowBeyondWhatWasApproved(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name           string
		approved, then int64
		rules          actions.ApprovalRules
		needed, runs   bool
	}{
		{"small, and below 64 MB", 1 * mb, 63 * mb, actions.ApprovalRules{Kinds: []actions.Kind{actions.MoveChunk}}, true, true},
		{"small, and above 64 MB", 1 * mb, 65 * mb, actions.ApprovalRules{Kinds: []actions.Kind{actions.MoveChunk}}, true, false},
		{"large, and doubled", 40 * mb, 80 * mb, actions.ApprovalRules{Bytes: 30 * mb}, true, true},
		{"large, and more than doubled", 40 * mb, 81 * mb, actions.ApprovalRules{Bytes: 30 * mb}, true, false},
		{"not measured any more, with a limit of bytes", 40 * mb, -1, actions.ApprovalRules{Bytes: 30 * mb}, true, false},
		{"grown to the limit without approval", 1 * mb, 50 * mb, actions.ApprovalRules{Bytes: 50 * mb}, false, true},
		{"grown beyond the limit without approval", 1 * mb, 51 * mb, actions.ApprovalRules{Bytes: 50 * mb}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sizes := &fixedSizes{}
			sizes.bytes.Store(c.approved)
			wrap := func(o *engine.Options) { o.Approval.Rules, o.Sizes = c.rules, sizes }
			OnRig(t, Setup{Wrap: wrap}, func(r *Rig) {
				p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
				if b := p.Effect.Bytes; !b.Known || b.Value != c.approved || (len(p.Approval) > 0) != c.needed {
					r.Fatalf("moves %+v, needs approval because of %v", b, p.Approval)
				}
				if c.needed {
					r.approve(Bert, p)
				}
				sizes.bytes.Store(c.then)
				_, _, err := r.RunPlan(Anna, p)
				var changed *engine.ChangedError
				expect.That(r, c.runs == (err == nil) && (c.runs || errors.As(err, &changed)), "run: %v", err)
				if c.needed && !c.runs && changed != nil {
					if d := changed.Differences; len(d) != 1 || d[0].Field != "limit.bytes" {
						r.Errorf("differences: %+v", d)
					}
				}
				if sent := len(r.Sim.Faults().Seen("moveChunk")); !c.runs && sent != 0 {
					r.Errorf("%d commands were sent", sent)
				}
			})
		})
	}
}

// formerAccounts answers as if a principal had ended, or had another role.
type formerAccounts struct {
	role  auth.Role // "": it has ended
	known bool
	err   error

	related bool // Anna made the account of Bert
	lapsed  bool // it ended, and was given back
}

func (f *formerAccounts) PrincipalNow(_ context.Context, id string) (auth.Principal, bool, error) {
	switch {
	case f.err != nil:
		return auth.Principal{}, true, f.err
	case f.role == "" && f.known:
		return auth.Principal{}, true, auth.ErrNobody
	}
	return auth.Principal{ID: id, Role: f.role}, f.known, nil
}

func (f *formerAccounts) Lapsed(context.Context, string, time.Time) (bool, error) {
	return f.lapsed, nil
}

func (f *formerAccounts) Related(_ context.Context, a, b string) (message.Message, error) {
	if f.related && a == Anna.ID && b == Bert.ID {
		return message.New("related", "Anna made Bert."), nil
	}
	return message.Message{}, nil
}

func TestWhoMayBeTheMakerOfAPlanCannotApproveIt(t *testing.T) {
	people := &formerAccounts{role: auth.Operator, known: true, related: true}
	OnRig(t, Setup{Wrap: func(o *engine.Options) {
		o.Approval.Rules.Kinds, o.Approval.Approvers = []actions.Kind{actions.Split}, people
	}}, func(r *Rig) {
		p := r.planSplit(Anna, 5)
		if _, err := r.Engine.Approve(r.Context(), Bert, p.ID, p.Hash); fault.Of(err) != fault.Forbidden ||
			!strings.Contains(fault.Text(err), "Anna made Bert.") {
			r.Errorf("%v", err)
		}
		if a, err := r.Engine.ApprovalOf(r.Context(), p); err != nil || a.State != engine.ApprovalAsked {
			r.Errorf("%s, %v", a.State, err)
		}
		people.related = false
		r.approve(Bert, p)
	})
}

func TestApprovalCountsOnlyWhileItsGiverMayApprove(t *testing.T) {
	for name, c := range map[string]struct {
		now  formerAccounts
		kind fault.Kind // of the refusal
		runs bool
	}{
		"the account is as it was":    {formerAccounts{role: auth.Operator, known: true}, 0, true},
		"no account here":             {formerAccounts{}, 0, true},
		"it ended for some time":      {formerAccounts{role: auth.Operator, known: true, lapsed: true}, fault.Conflict, false},
		"the account has ended":       {formerAccounts{known: true}, fault.Conflict, false},
		"the account may only look":   {formerAccounts{role: auth.Viewer, known: true}, fault.Conflict, false},
		"the accounts cannot be read": {formerAccounts{err: fault.New(fault.Unavailable, "The disk is full.")}, fault.Unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := &formerAccounts{role: auth.Operator, known: true}
			OnRig(t, Setup{Wrap: func(o *engine.Options) {
				o.Approval.Rules.Kinds, o.Approval.Approvers = []actions.Kind{actions.Split}, now
			}}, func(r *Rig) {
				p := r.planSplit(Anna, 5)
				r.approve(Bert, p)
				*now = c.now
				_, _, err := r.RunPlan(Anna, p)
				expect.That(r, c.runs == (err == nil) && (c.runs || fault.Of(err) == c.kind), "run: %v (%s)", err, fault.Of(err))
				expect.That(r, c.runs || len(r.Sim.Faults().Seen("split")) == 0, "a command was sent")
			})
		})
	}
}

// moreThan is a setup in which a plan that changes more chunks needs approval.
func moreThan(chunks int64) Setup {
	return Setup{Wrap: func(o *engine.Options) { o.Approval.Rules.Chunks = chunks }}
}

// runAs plans a split as somebody and runs it to its end.
func (r *Rig) runAs(by auth.Principal, at int) (actions.Plan, engine.Run) {
	r.Helper()
	p := r.planSplit(by, at)
	run, _, err := r.RunPlan(by, p)
	r.Must(err)
	return p, r.WaitEnd(run.ID)
}

// What a person runs within an hour adds up, with the tokens of that person. Others, approved runs and undos
// are aside, and the refusal names what it counted.
func TestPlansOfOnePersonAddUp(t *testing.T) {
	OnRig(t, moreThan(2), func(r *Rig) {
		token := tokenOf("ci", Anna.ID)
		early := r.planSplit(Anna, 7) // while nothing was run
		first, run := r.runAs(Anna, 5)
		second, _ := r.runAs(token, 15)
		var because string
		for name, by := range map[string]auth.Principal{"the person": Anna, "a token": token} {
			p := r.planSplit(by, 25)
			must.That(t, len(p.Approval) == 1 && p.Approval[0].Code == "approval.chunksAdded", "%s: %v", name, p.Approval)
			because = p.Approval[0].String()
			r.refuses(by, p, fault.Conflict, because)
		}
		expect.That(t, strings.Contains(because, second.ID+", "+first.ID) && strings.Contains(because, "3"),
			"%q does not name %s and %s", because, first.ID, second.ID)
		r.refuses(Anna, early, fault.Conflict, "")
		if p := r.planSplit(Bert, 25); len(p.Approval) != 0 {
			t.Errorf("somebody else: %v", p.Approval)
		}
		undo := r.undo(run.ID)
		expect.Equal(t, len(undo.Approval), 0, "an undo: %v", undo.Approval)
		r.WaitEnd(r.Start(undo).ID)
		p := r.planSplit(Anna, 25)
		r.approve(Bert, p)
		r.WaitEnd(r.Start(p).ID)
		time.Sleep(time.Hour)
		r.runAs(Anna, 8)
		if p := r.planSplit(Anna, 6); len(p.Approval) != 0 {
			t.Errorf("after an hour, with an approved run and an undo in it: %v", p.Approval)
		}
	})
}

// slowRuns is a journal that takes a second to store a run.
type slowRuns struct{ engine.Journal }

func (s slowRuns) AddRun(ctx context.Context, r store.RunRecord) error {
	time.Sleep(time.Second)
	return s.Journal.AddRun(ctx, r)
}

func TestPlansThatAreRunAtTheSameTimeAddUp(t *testing.T) {
	s := Setup{Wrap: func(o *engine.Options) { o.Approval.Rules.Chunks, o.Journal = 2, slowRuns{o.Journal} }}
	OnRig(t, s, func(r *Rig) {
		var plans []actions.Plan
		for _, at := range []int{3, 5, 7, 13, 15, 17} {
			plans = append(plans, r.planSplit(Anna, at))
		}
		ran := make([]bool, len(plans))
		var all sync.WaitGroup
		for i, p := range plans {
			all.Go(func() {
				_, _, err := r.RunPlan(Anna, p)
				ran[i] = err == nil
			})
		}
		all.Wait()
		expect.Equal(t, len(slices.DeleteFunc(ran, func(x bool) bool { return !x })), 2,
			"plans of 6 that ran, while 2 chunks need no approval")
	})
}

// A range in a zone and then the balancer moved nine chunks below a limit of three.
func TestTheBalancerIsNoWayAroundTheLimit(t *testing.T) {
	OnRig(t, moreThan(3), func(r *Rig) {
		addToZone("shard-rs-2", "eu")(r)
		set := actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(60)}
		wide := r.Plan(actions.ZoneSetRange, set)
		expect.That(t, len(wide.Approval) == 1 && wide.Approval[0].Code == "approval.chunks",
			"a range of %v chunks: %v", wide.Effect.ByBalancer, wide.Approval)
		r.refuses(Anna, wide, fault.Conflict, "")
		r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: NS}, {Key: "min", Value: P(0)}, {Key: "max", Value: P(60)}, {Key: "zone", Value: "eu"}})
		r.Restart()
		if on := r.Plan(actions.BalancerOn, actions.Args{}); len(on.Approval) != 1 {
			t.Errorf("the balancer on: %v", on.Approval)
		}
	})
}
