package webtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// RecordID makes an id of a plan or a run that people can read in a failure.
func RecordID(name string) string { return (name + strings.Repeat("a", 26))[:26] }

// StubActions is an engine with canned plans and runs that starts nothing.
type StubActions struct {
	mu       sync.Mutex
	PlanList []actions.Plan
	RunList  []engine.Run
	Items    map[string][]engine.BatchItem // by run
	asked    []string
	Err      error // of what would change something
	told     chan struct{}

	Approvals map[string]engine.Approval // by plan; none is needed for others
}

var _ engine.Service = (*StubActions)(nil)

func (s *StubActions) did(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
	return s.Err
}

func (s *StubActions) Plan(_ context.Context, by auth.Principal, r engine.Request) (actions.Plan, error) {
	p := s.PlanList[0]
	p.By, p.Reason = by, r.Reason
	return p, s.did("plan " + string(r.Kind))
}

func (s *StubActions) Run(_ context.Context, _ auth.Principal, plan string, _ engine.RunRequest) (engine.Run, bool, error) {
	if err := s.did("run " + plan); err != nil {
		return engine.Run{}, false, err
	}
	return s.RunList[0], true, nil
}

func (s *StubActions) Stop(ctx context.Context, _ auth.Principal, run string) (engine.Run, error) {
	if err := s.did("stop " + run); err != nil {
		return engine.Run{}, err
	}
	return s.RunByID(ctx, run)
}

func (s *StubActions) Pause(ctx context.Context, _ auth.Principal, run string) (engine.Run, error) {
	if err := s.did("pause " + run); err != nil {
		return engine.Run{}, err
	}
	return s.RunByID(ctx, run)
}

func (s *StubActions) Resume(ctx context.Context, _ auth.Principal, run string, r engine.ResumeRequest) (engine.Run, error) {
	if err := s.did(strings.TrimSpace(fmt.Sprintf("resume %s %s", run, r.Do))); err != nil {
		return engine.Run{}, err
	}
	return s.RunByID(ctx, run)
}

func (s *StubActions) BatchItems(_ context.Context, run string, after, limit int) ([]engine.BatchItem, error) {
	items := s.Items[run]
	from := min(after, len(items))
	return items[from:min(from+limit, len(items))], nil
}

func (s *StubActions) OpenBatches() (open []engine.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.RunList {
		if r.IsBatch() && r.State.Open() {
			open = append(open, r)
		}
	}
	return open
}

func (s *StubActions) Undo(_ context.Context, _ auth.Principal, run, _ string) (actions.Plan, error) {
	if err := s.did("undo " + run); err != nil {
		return actions.Plan{}, err
	}
	return s.PlanList[0], nil
}

func (s *StubActions) Finish(_ context.Context, _ auth.Principal, run, _ string) (actions.Plan, error) {
	if err := s.did("finish " + run); err != nil {
		return actions.Plan{}, err
	}
	return s.PlanList[0], nil
}

func (s *StubActions) Approve(_ context.Context, _ auth.Principal, plan, _ string) (engine.Approval, error) {
	return s.Approvals[plan], s.did("approve " + plan)
}

func (s *StubActions) Refuse(_ context.Context, _ auth.Principal, plan, _ string) (engine.Approval, error) {
	return s.Approvals[plan], s.did("refuse " + plan)
}

func (s *StubActions) ApprovalOf(_ context.Context, p actions.Plan) (engine.Approval, error) {
	if a, ok := s.Approvals[p.ID]; ok {
		return a, nil
	}
	return engine.Approval{State: engine.ApprovalNone}, nil
}

func (s *StubActions) AwaitingApproval(_ context.Context, limit int) (out []engine.ApprovalRequest, err error) {
	for _, p := range s.PlanList {
		if s.Approvals[p.ID].State == engine.ApprovalAsked && len(out) < limit {
			out = append(out, engine.ApprovalRequest{Plan: p.ID, Kind: p.Kind, Summary: p.Summary, By: p.By.ID, ByName: p.By.Name,
				Person: p.By.Person(), Reason: p.Reason, Made: p.Made, Until: p.Expires})
		}
	}
	return out, nil
}

func (s *StubActions) PlanByID(_ context.Context, id string) (actions.Plan, error) {
	for _, p := range s.PlanList {
		if p.ID == id {
			return p, nil
		}
	}
	return actions.Plan{}, fault.New(fault.NotFound, "There is no plan %s.", id)
}

func (s *StubActions) UnrunPlans(_ context.Context, limit int) (out []actions.Plan, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.PlanList {
		if !slices.ContainsFunc(s.RunList, func(r engine.Run) bool { return r.Plan == p.ID }) && len(out) < limit {
			out = append(out, p)
		}
	}
	return out, nil
}

func (s *StubActions) RunByID(_ context.Context, id string) (engine.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.RunList {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "There is no run %s.", id)
}

func (s *StubActions) RunOfPlan(_ context.Context, plan string) (engine.Run, error) {
	for _, r := range s.RunList {
		if r.Plan == plan {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "The plan %s was not run.", plan)
}

func (s *StubActions) Runs(_ context.Context, cursor string, limit int) ([]engine.Run, string, error) {
	if cursor != "" {
		return nil, "", nil
	}
	return s.RunList[:min(limit, len(s.RunList))], "", nil
}

func (s *StubActions) OpenRuns(context.Context) (open []engine.Run, err error) {
	for _, r := range slices.Backward(s.RunList) {
		if r.State.Open() {
			open = append(open, r)
		}
	}
	return open, nil
}

func (s *StubActions) Subscribe() (<-chan struct{}, func()) { return s.told, func() {} }

// Change puts a run in the place of the one with its id and tells.
func (s *StubActions) Change(r engine.Run) {
	s.mu.Lock()
	for i := range s.RunList {
		if s.RunList[i].ID == r.ID {
			s.RunList[i] = r
		}
	}
	s.mu.Unlock()
	s.told <- struct{}{}
}

// drafted makes a plan with the real planner of its kind. The commands are those
// of the steps, near enough to look at.
func drafted(v answer.View, name string, k actions.Kind, a actions.Args, change ...func(*actions.Situation)) actions.Plan {
	s := actions.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Release: balance.Release{5, 0, 7}, Now: v.Now,
		Activity: operation.Activity{Known: true, At: v.Now}}
	for _, f := range change {
		f(&s)
	}
	d, a, err := actions.PlanChange(s, k, a)
	if err != nil {
		panic(string(k) + ": " + err.Error())
	}
	p := actions.Plan{Draft: d, ID: RecordID(name), Hash: strings.Repeat("0123456789abcdef", 4), Kind: k, Args: a,
		Reason: "ticket 4711: the shard is hot", By: Olga, Made: v.Now.Add(-2 * time.Minute), Expires: v.Now.Add(13 * time.Minute)}
	for _, step := range d.Steps {
		p.Commands = append(p.Commands, commandOf(step))
	}
	return p
}

func commandOf(s operation.Step) operation.Command {
	switch s.Op {
	case operation.OpAwait:
		return operation.Command{}
	case operation.OpSplitAt:
		return operation.Command{
			DB: "admin",
			Doc: MustBSON(
				bson.D{{Key: "split", Value: s.NS}, {Key: "middle", Value: s.At}, {Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}}},
			),
		}
	case operation.OpMove, operation.OpMoveRange:
		return operation.Command{
			DB:  "admin",
			Doc: MustBSON(bson.D{{Key: "moveChunk", Value: s.NS}, {Key: "bounds", Value: bson.A{s.Min, s.Max}}, {Key: "to", Value: s.Shard}}),
		}
	}
	return operation.Command{DB: "admin", Doc: MustBSON(bson.D{{Key: string(s.Op), Value: string(s.NS)}, {Key: "zone", Value: s.Zone}})}
}

// MustBSON encodes a document, or panics.
func MustBSON(v any) bson.Raw { return Must(bson.Marshal(v)) }

// CannedActions are plans and runs over the story, in every state.
func CannedActions() *StubActions {
	c := canned()
	plan := func(name string) actions.Plan {
		p := c.plans[name]
		p.Steps, p.Commands, p.Checks = slices.Clone(p.Steps), slices.Clone(p.Commands), slices.Clone(p.Checks)
		return p
	}
	late := plan("move")
	late.ID, late.Expires = RecordID("late"), c.view.Now.Add(-time.Minute)
	return &StubActions{
		told: make(chan struct{}),
		PlanList: []actions.Plan{plan("split"), plan("move"), plan("pin"), plan("isolate"), plan("blocked"), late, plan("done"), plan("hot"),
			plan("onevalue")},
		RunList: append(cannedRuns(c.view, plan("done"), plan("move")), goalRuns(c.view, plan("pin"), plan("pausing"))...),
	}
}

// cannedPlans are plans by name, and what they were made from.
type cannedPlans struct {
	view  answer.View
	plans map[string]actions.Plan
}

// canned plans once: planning takes longer than most tests that look at a plan.
var canned = sync.OnceValue(func() cannedPlans {
	v := NewStory().View()
	c := cannedPlans{view: v, plans: map[string]actions.Plan{}}
	changes := v.Table.Collection("yorkie-meta.changes")
	from := changes.Chunks.At(2)
	to := v.Table.Shards[0].Name
	for _, s := range v.Table.Shards {
		if s.Name != from.Shard {
			to = s.Name
		}
	}
	project := v.Dir.All()[3].ID.Hex()
	ref := answer.ChunkRef(changes, from.Min)
	draft := func(name string, k actions.Kind, a actions.Args, change ...func(*actions.Situation)) {
		c.plans[name] = drafted(v, name, k, a, change...)
	}
	draft("move", actions.MoveChunk, actions.Args{NS: changes.NS, Chunk: ref, To: to})
	draft("split", actions.Split, actions.Args{NS: changes.NS, Chunk: ref, Parts: 4})
	draft("pin", actions.Pin, actions.Args{Project: project, Shard: to})
	draft("isolate", actions.Isolate, actions.Args{Project: project, Shard: to, Mode: "balancer"})
	draft("blocked", actions.MoveChunk, actions.Args{NS: changes.NS, Chunk: ref, To: from.Shard})
	draft("done", actions.Split, actions.Args{NS: changes.NS, Chunk: ref, Parts: 4})
	draft("hot", actions.SplitHot, actions.Args{NS: changes.NS, Chunk: ref}, hotWrites(changes, 2, 9, 11, 8, 12))
	draft("onevalue", actions.SplitHot, actions.Args{NS: changes.NS, Chunk: ref}, hotWrites(changes, 2, 83, 8, 9))
	draft("pausing", actions.Pin, actions.Args{Project: project, Shard: to, Pause: actions.PauseCollections})
	return c
})

// hotWrites makes up writes to a chunk of changes, so many rows at each of some keys.
func hotWrites(c *topology.Collection, i int, rows ...int64) func(*actions.Situation) {
	return func(s *actions.Situation) {
		ch := c.Chunks.At(i)
		lo, _ := ch.Min.HashFloor()
		w := topology.RangeWrites{
			NS:        c.NS,
			Min:       ch.Min,
			Max:       ch.Max,
			Method:    topology.WritesCounted,
			From:      s.Now.Add(-15 * time.Minute),
			To:        s.Now,
			InShards:  true,
			PerSecond: 12,
		}
		for n, many := range rows {
			w.Keys = append(
				w.Keys,
				topology.KeyWrites{
					Key:      shardkey.HashKey(lo + int64(n+1)*1e12),
					Rows:     many,
					Project:  s.Directory.All()[3].ID,
					Document: bson.ObjectID{11: byte(n)}, DocumentText: bson.ObjectID{11: byte(n)}.Hex(),
				},
			)
			w.Rows += many
		}
		s.Writes = actions.Writes{At: s.Now, Ranges: []topology.RangeWrites{w}, Shards: map[string]float64{ch.Shard: 20.4}}
	}
}

// WithActions is an option of New: the engine of changes.
func WithActions(a engine.Service) func(*site.Deps) {
	return func(d *site.Deps) { d.Changes.Actions = a }
}
