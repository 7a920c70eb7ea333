package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// tokenOf is a token of somebody.
func tokenOf(id, owner string) auth.Principal {
	return auth.Principal{ID: "token:" + id, Name: id, Role: auth.Operator, Method: auth.ByToken, Owner: owner}
}

// needsApproval is a setup in which every split and every merge needs approval. wall shifts the clock that is
// stored and compared, and not the time that passes.
func needsApproval(wall *time.Duration) Setup {
	return Setup{Wrap: func(o *engine.Options) {
		o.Approval.Rules.Kinds = []actions.Kind{actions.Split, actions.Merge}
		o.Now = func() time.Time { return time.Now().Add(*wall) }
	}}
}

// planSplit plans a split as somebody.
func (r *Rig) planSplit(by auth.Principal, at int) actions.Plan {
	r.Helper()
	p, err := r.Engine.Plan(r.Context(), by, engine.Request{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(at)}, Reason: "a test"})
	r.Must(err)
	return p
}

func (r *Rig) approve(by auth.Principal, p actions.Plan) engine.Approval {
	r.Helper()
	a, err := r.Engine.Approve(r.Context(), by, p.ID, p.Hash)
	r.Must(err)
	return a
}

// rewrite replaces a stored plan, as somebody with the database could.
func (r *Rig) rewrite(p actions.Plan, change func(*actions.Plan)) actions.Plan {
	r.Helper()
	change(&p)
	body := must.Get(json.Marshal(p))
	r.handle.mu.Lock()
	defer r.handle.mu.Unlock()
	row := r.handle.plans[p.ID]
	row.Body, row.Hash, row.By, row.Expires = body, p.Hash, p.By.ID, p.Expires
	r.handle.plans[p.ID] = row
	return p
}

func TestPlanRunsOnceSomebodyElseHasApprovedIt(t *testing.T) {
	var wall time.Duration
	OnRig(t, needsApproval(&wall), func(r *Rig) {
		p := r.planSplit(Anna, 5)
		must.That(t, len(p.Approval) == 1 && p.Expires.Sub(p.Made) == engine.ApprovalWait,
			"%v, %s", p.Approval, p.Expires.Sub(p.Made))
		r.refuses(Anna, p, fault.Conflict, "approval of somebody else")
		time.Sleep(time.Hour) // longer than other plans live
		waiting, err := r.Engine.AwaitingApproval(r.Context(), 10)
		r.Must(err)
		expect.That(t, len(waiting) == 1 && waiting[0].Plan == p.ID && waiting[0].Person == Anna.ID,
			"%d plans wait", len(waiting))
		a := r.approve(Bert, p)
		expect.That(t, a.State == engine.Approved && a.By == Bert.ID && a.Expires.Sub(a.At) == engine.ApprovalLasts, "%+v", a)
		if waiting, _ = r.Engine.AwaitingApproval(r.Context(), 10); len(waiting) != 0 {
			t.Error("an approved plan waits")
		}
		expect.That(t, r.approve(Bert, p).At.Equal(a.At), "approving again changed something")
		r.refuses(Bert, p, fault.Conflict, "")
		time.Sleep(engine.ApprovalLasts - time.Second)
		run := r.WaitEnd(r.Start(p).ID)
		expect.That(t, run.State == engine.Succeeded && run.Approval != nil && run.Approval.By == Bert.ID,
			"%s %+v", run.State, run.Approval)
		time.Sleep(time.Minute)
		if a, err := r.Engine.ApprovalOf(r.Context(), p); err != nil || a.State != engine.Approved || a.By != Bert.ID {
			t.Errorf("of the plan that was run: %+v, %v", a, err)
		}
		var seen []string
		for _, e := range r.Disk.entries {
			seen = append(seen, e.What)
		}
		expect.That(t, slices.Contains(seen, "plan.approved"), "the audit record has %v", seen)
	})
}

func TestSelfApprovalReplayAndStaleApprovalNeverRunAPlan(t *testing.T) {
	tries := 100
	if testing.Short() {
		tries = 5
	}
	annas := []auth.Principal{Anna, tokenOf("a1", Anna.ID), tokenOf("a2", Anna.ID)}
	var expired []actions.Plan
	approved := func(r *Rig, i int) actions.Plan {
		p := r.planSplit(annas[i%3], 5)
		r.approve([]auth.Principal{Bert, tokenOf("b", Bert.ID)}[i%2], p)
		return p
	}
	self := func(makers, approvers []auth.Principal) func(*Rig, int) (actions.Plan, bool) {
		return func(r *Rig, i int) (actions.Plan, bool) {
			p := r.planSplit(makers[i%len(makers)], 5)
			_, err := r.Engine.Approve(r.Context(), approvers[i/len(makers)%len(approvers)], p.ID, p.Hash)
			return p, fault.Of(err) == fault.Forbidden
		}
	}
	for name, attack := range map[string]func(r *Rig, i int) (p actions.Plan, refused bool){
		"by a session":                 self(annas[:1], annas[:1]),
		"by a token of one's own":      self(annas[:1], annas[1:]),
		"by a token of the same owner": self(annas[1:], annas),
		"by a token of nobody known":   self(annas, []auth.Principal{tokenOf("x", "console"), tokenOf("y", ""), auth.Local()}),
		"of a plan of nobody known":    self([]auth.Principal{tokenOf("x", "console")}, []auth.Principal{Anna, Bert}),
		"by a viewer":                  self(annas, []auth.Principal{{ID: "user:v", Role: auth.Viewer, Method: auth.ByPassword}}),
		"for another plan with its hash": func(r *Rig, i int) (actions.Plan, bool) {
			p := r.planSplit(annas[i%3], 5)
			return p, approved(r, i).Hash == p.Hash
		},
		"copied to another plan": func(r *Rig, i int) (actions.Plan, bool) {
			p, other := r.planSplit(annas[i%3], 5), approved(r, i)
			a, err := r.handle.Approval(r.Context(), other.ID)
			r.Must(err)
			a.Plan = p.ID
			r.Must(r.handle.SaveApproval(r.Context(), a))
			return p, true
		},
		"edited after the approval": func(r *Rig, i int) (actions.Plan, bool) {
			return r.rewrite(approved(r, i), func(p *actions.Plan) {
				switch i % 5 {
				case 0:
					p.Limits.Chunks++
				case 1:
					p.Limits.Shards = append(p.Limits.Shards, "shard-rs-3")
				case 2:
					p.Args.At = P(6)
				case 3:
					p.Effect.Bytes.Value++
				case 4:
					p.By = Bert // who approved it
				}
			}), true
		},
		"by another hash": func(r *Rig, i int) (actions.Plan, bool) {
			p, other := r.planSplit(annas[i%3], 5), r.planSplit(annas[i%3], 15)
			_, err := r.Engine.Approve(r.Context(), Bert, p.ID, other.Hash)
			return p, fault.Of(err) == fault.Conflict
		},
		"after its expiry": func(r *Rig, i int) (actions.Plan, bool) {
			if i%10 == 0 {
				expired = nil
				for n := range 10 {
					expired = append(expired, approved(r, n))
				}
				time.Sleep(engine.ApprovalLasts)
			}
			return expired[i%10], true
		},
		"after it was taken back": func(r *Rig, i int) (actions.Plan, bool) {
			p := approved(r, i)
			r.Must(must.Err(r.Engine.Refuse(r.Context(), []auth.Principal{Anna, Bert}[i%2], p.ID, "not today")))
			_, err := r.Engine.Approve(r.Context(), Bert, p.ID, p.Hash)
			return p, fault.Of(err) == fault.Conflict
		},
	} {
		t.Run(name, func(t *testing.T) {
			var wall time.Duration
			OnRig(t, needsApproval(&wall), func(r *Rig) {
				for i := range tries {
					p, refused := attack(r, i)
					_, _, err := r.RunPlan(p.By, p)
					must.That(t, refused && err != nil, "try %d: refused %v, run: %v", i, refused, err)
				}
				expect.Equal(t, len(r.Sim.Faults().Seen()), 0, "commands sent")
			})
		})
	}
}

func TestApprovalDoesNotLiveLongerWhenTheClockIsSetBack(t *testing.T) {
	for _, restart := range []bool{false, true} {
		var wall time.Duration
		OnRig(t, needsApproval(&wall), func(r *Rig) {
			var plans []actions.Plan
			for range 20 {
				plans = append(plans, r.planSplit(Anna, 5))
				r.approve(Bert, plans[len(plans)-1])
			}
			if restart { // only the clock tells the age then
				wall = -2 * time.Minute
				r.Restart()
			} else {
				time.Sleep(engine.ApprovalLasts)
			}
			for i, p := range plans {
				if !restart {
					wall = -time.Duration(i+1) * engine.ApprovalLasts / 20
				}
				r.refuses(Anna, p, fault.Conflict, "")
				if a, err := r.Engine.ApprovalOf(r.Context(), p); err != nil || a.State != engine.ApprovalVoid || a.Void.IsZero() {
					t.Fatalf("restart %v, try %d: %+v, %v", restart, i, a, err)
				}
			}
			expect.Equal(t, len(r.Sim.Faults().Seen()), 0, "commands sent")
		})
	}
}

func TestOneOfTwoApproversApprovesAndAPlanRunsOnlyAfterThat(t *testing.T) {
	var wall time.Duration
	carl := auth.Principal{ID: "user:carl", Name: "Carl", Role: auth.Operator, Method: auth.ByPassword}
	OnRig(t, needsApproval(&wall), func(r *Rig) {
		for i := range 10 {
			p := r.planSplit(Anna, 5)
			var all sync.WaitGroup
			var approvals [2]error
			var ran error
			for n, by := range []auth.Principal{Bert, carl} {
				all.Go(func() { _, approvals[n] = r.Engine.Approve(r.Context(), by, p.ID, p.Hash) })
			}
			if i == 9 {
				all.Go(func() { _, _, ran = r.RunPlan(Anna, p) })
			}
			all.Wait()
			won := 0
			for _, err := range approvals {
				if err == nil {
					won++
				} else if fault.Of(err) != fault.Conflict {
					t.Errorf("%v", err)
				}
			}
			expect.That(t, won == 1 || i == 9 && ran == nil, "%d approved: %v", won, approvals)
			expect.That(t, i != 9 || ran != nil || won != 0, "it ran before anybody approved")
		}
	})
}

func TestUndoOfAnApprovedRunNeedsNoApprovalForADay(t *testing.T) {
	var wall time.Duration
	s := needsApproval(&wall)
	OnRig(t, s, func(r *Rig) {
		p := r.planSplit(Anna, 5)
		r.approve(Bert, p)
		run := r.WaitEnd(r.Start(p).ID)
		undo := r.undo(run.ID)
		a, err := r.Engine.ApprovalOf(r.Context(), undo)
		r.Must(err)
		expect.That(t, !a.Needed && !a.Covered.IsZero() && len(undo.Approval) == 0, "%+v", a)
		r.Kill() // a client that is connected costs a poll every ten seconds
		time.Sleep(25 * time.Hour)
		r.Boot()
		late := r.undo(run.ID)
		expect.That(t, len(late.Approval) != 0, "an undo a day later needs no approval")
		r.refuses(Anna, late, fault.Conflict, "")
	})
}

func TestStricterRulesCountForPlansThatWereMadeBefore(t *testing.T) {
	var rules actions.ApprovalRules
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Approval.Rules = rules }}, func(r *Rig) {
		p := r.planSplit(Anna, 5)
		rules.Kinds = []actions.Kind{actions.Split}
		r.Restart()
		r.refuses(Anna, p, fault.Conflict, "")
		r.approve(Bert, p)
		rules = actions.ApprovalRules{Chunks: 1}
		r.Restart()
		if run := r.WaitEnd(r.Start(p).ID); run.State != engine.Succeeded {
			t.Errorf("%s", run.State)
		}
	})
}

func TestFollowerLeavesApprovalToTheLeader(t *testing.T) {
	var wall time.Duration
	onReplicas(t, needsApproval(&wall), func(r *Rig, other *otherReplica) {
		p, err := other.Plan(r.Context(), Anna, engine.Request{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(5)}, Reason: "a test"})
		r.Must(err)
		if _, err := other.Approve(r.Context(), Bert, p.ID, p.Hash); !errors.Is(err, store.ErrNotLeading) {
			t.Errorf("%v", err)
		}
		r.approve(Bert, p)
		if a, err := other.ApprovalOf(r.Context(), p); err != nil || a.State != engine.Approved {
			t.Errorf("%v %v", a.State, err)
		}
		if run := r.WaitEnd(r.Start(p).ID); run.State != engine.Succeeded {
			t.Error(fmt.Sprint(run.State))
		}
	})
}
