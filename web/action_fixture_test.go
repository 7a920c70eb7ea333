package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// recordNamed makes an id of a plan or a run that people can read in a failure.
func recordNamed(name string) string { return (name + strings.Repeat("a", 26))[:26] }

// stubActions is an engine with canned plans and runs that starts nothing.
type stubActions struct {
	mu    sync.Mutex
	plans []actions.Plan
	runs  []engine.Run
	asked []string
	err   error // of what would change something
	told  chan struct{}
}

var _ engine.Service = (*stubActions)(nil)

func (s *stubActions) did(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
	return s.err
}

func (s *stubActions) Plan(_ context.Context, by auth.Principal, r engine.Request) (actions.Plan, error) {
	p := s.plans[0]
	p.By, p.Reason = by, r.Reason
	return p, s.did("plan " + string(r.Kind))
}

func (s *stubActions) Run(_ context.Context, _ auth.Principal, plan string, _ engine.RunRequest) (engine.Run, bool, error) {
	if err := s.did("run " + plan); err != nil {
		return engine.Run{}, false, err
	}
	return s.runs[0], true, nil
}

func (s *stubActions) Stop(ctx context.Context, _ auth.Principal, run string) (engine.Run, error) {
	if err := s.did("stop " + run); err != nil {
		return engine.Run{}, err
	}
	return s.RunByID(ctx, run)
}

func (s *stubActions) Undo(_ context.Context, _ auth.Principal, run, _ string) (actions.Plan, error) {
	if err := s.did("undo " + run); err != nil {
		return actions.Plan{}, err
	}
	return s.plans[0], nil
}

func (s *stubActions) Finish(_ context.Context, _ auth.Principal, run, _ string) (actions.Plan, error) {
	if err := s.did("finish " + run); err != nil {
		return actions.Plan{}, err
	}
	return s.plans[0], nil
}

func (s *stubActions) PlanByID(_ context.Context, id string) (actions.Plan, error) {
	for _, p := range s.plans {
		if p.ID == id {
			return p, nil
		}
	}
	return actions.Plan{}, fault.New(fault.NotFound, "There is no plan %s.", id)
}

func (s *stubActions) RunByID(_ context.Context, id string) (engine.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "There is no run %s.", id)
}

func (s *stubActions) RunOfPlan(_ context.Context, plan string) (engine.Run, error) {
	for _, r := range s.runs {
		if r.Plan == plan {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "The plan %s was not run.", plan)
}

func (s *stubActions) Runs(_ context.Context, cursor string, limit int) ([]engine.Run, string, error) {
	if cursor != "" {
		return nil, "", nil
	}
	return s.runs[:min(limit, len(s.runs))], "", nil
}

func (s *stubActions) Subscribe() (<-chan struct{}, func()) { return s.told, func() {} }

// change puts a run in the place of the one with its id and tells.
func (s *stubActions) change(r engine.Run) {
	s.mu.Lock()
	for i := range s.runs {
		if s.runs[i].ID == r.ID {
			s.runs[i] = r
		}
	}
	s.mu.Unlock()
	s.told <- struct{}{}
}

// olga made the canned plans.
var olga = auth.Principal{ID: "user:olga", Name: "Olga", Role: auth.Operator, Method: auth.ByPassword, Session: "s9"}

// drafted makes a plan with the real planner of its kind. The commands are those
// of the steps, near enough to look at.
func drafted(v answer.View, name string, k actions.Kind, a actions.Args, change ...func(*actions.Situation)) actions.Plan {
	s := actions.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Release: balance.Release{5, 0, 7}, Now: v.Now,
		Activity: actions.Activity{Known: true, At: v.Now}}
	for _, f := range change {
		f(&s)
	}
	d, a, err := actions.Planners()[k](s, a)
	if err != nil {
		panic(string(k) + ": " + err.Error())
	}
	p := actions.Plan{Draft: d, ID: recordNamed(name), Hash: strings.Repeat("0123456789abcdef", 4), Kind: k, Args: a,
		Reason: "ticket 4711: the shard is hot", By: olga, Made: v.Now.Add(-2 * time.Minute), Expires: v.Now.Add(13 * time.Minute)}
	for _, step := range d.Steps {
		p.Commands = append(p.Commands, commandOf(step))
	}
	return p
}

func commandOf(s actions.Step) actions.Command {
	switch s.Op {
	case actions.OpAwait:
		return actions.Command{}
	case actions.OpSplitAt:
		return actions.Command{
			DB: "admin",
			Doc: mustBSON(
				bson.D{{Key: "split", Value: s.NS}, {Key: "middle", Value: s.At}, {Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}}},
			),
		}
	case actions.OpMove, actions.OpMoveRange:
		return actions.Command{
			DB:  "admin",
			Doc: mustBSON(bson.D{{Key: "moveChunk", Value: s.NS}, {Key: "bounds", Value: bson.A{s.Min, s.Max}}, {Key: "to", Value: s.Shard}}),
		}
	}
	return actions.Command{DB: "admin", Doc: mustBSON(bson.D{{Key: string(s.Op), Value: string(s.NS)}, {Key: "zone", Value: s.Zone}})}
}

func mustBSON(v any) bson.Raw { return must(bson.Marshal(v)) }

// cannedActions are plans and runs over the story, in every state.
func cannedActions() *stubActions {
	v := newStory().View()
	out := &stubActions{told: make(chan struct{})}
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
	move := drafted(v, "move", actions.MoveChunk, actions.Args{NS: changes.NS, Chunk: ref, To: to})
	split := drafted(v, "split", actions.Split, actions.Args{NS: changes.NS, Chunk: ref, Parts: 4})
	pin := drafted(v, "pin", actions.Pin, actions.Args{Project: project, Shard: to})
	isolate := drafted(v, "isolate", actions.Isolate, actions.Args{Project: project, Shard: to, Mode: "balancer"})
	blocked := drafted(v, "blocked", actions.MoveChunk, actions.Args{NS: changes.NS, Chunk: ref, To: from.Shard})
	done := drafted(v, "done", actions.Split, actions.Args{NS: changes.NS, Chunk: ref, Parts: 4})
	hot := drafted(v, "hot", actions.SplitHot, actions.Args{NS: changes.NS, Chunk: ref}, hotWrites(changes, 2, 9, 11, 8, 12))
	one := drafted(v, "onevalue", actions.SplitHot, actions.Args{NS: changes.NS, Chunk: ref}, hotWrites(changes, 2, 83, 8, 9))
	late := move
	late.ID, late.Expires = recordNamed("late"), v.Now.Add(-time.Minute)
	out.plans = []actions.Plan{split, move, pin, isolate, blocked, late, done, hot, one}
	out.runs = append(
		cannedRuns(v, done, move),
		goalRuns(v, pin, drafted(v, "pausing", actions.Pin, actions.Args{Project: project, Shard: to, Pause: actions.PauseCollections}))...)
	return out
}

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
					Document: bson.ObjectID{11: byte(n)},
				},
			)
			w.Rows += many
		}
		s.Writes = actions.Writes{At: s.Now, Ranges: []topology.RangeWrites{w}, Shards: map[string]float64{ch.Shard: 20.4}}
	}
}

func cannedRuns(v answer.View, split, move actions.Plan) []engine.Run {
	run := func(name string, state engine.State, p actions.Plan, states ...engine.State) engine.Run {
		r := engine.Run{
			ID:      recordNamed(name),
			Plan:    p.ID,
			Kind:    p.Kind,
			Args:    p.Args,
			Summary: p.Summary,
			State:   state,
			By:      olga.ID,
			ByName:  olga.Name,
			Reason:  p.Reason,
			Started: v.Now.Add(-90 * time.Second),
		}
		for i, step := range p.Steps {
			s := engine.Step{Step: step, Command: p.Commands[i], State: engine.Planned}
			if i < len(states) {
				s.State = states[i]
				s.Sent = v.Now.Add(time.Duration(i-80) * time.Second)
			}
			if s.State == engine.Succeeded {
				s.Ended = s.Sent.Add(600 * time.Millisecond)
				for _, f := range step.Proof {
					s.Proven = append(s.Proven, engine.Reading{Fact: f, Got: f.Want, At: s.Ended})
				}
			}
			r.Steps = append(r.Steps, s)
		}
		if !state.Open() {
			r.Ended = v.Now.Add(-30 * time.Second)
		}
		return r
	}
	move.ID = recordNamed("ran") // so that the plan itself can still be run
	ok := run("succeeded", engine.Succeeded, split, engine.Succeeded, engine.Succeeded, engine.Succeeded)
	running := run("running", engine.Running, move, engine.Running)
	running.Steps[0].Progress = engine.Progress{Done: 3, Total: 6}
	running.Steps[0].Events = []topology.Event{
		{ID: "e1", Time: v.Now.Add(-50 * time.Second), What: "moveChunk.start", NS: string(move.Args.NS), Shard: move.Args.To,
			Details: mustBSON(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: move.Args.To}})},
	}
	unknown := run("unknown", engine.Unknown, move, engine.Unknown)
	unknown.Why = message.New("unknown",
		"A command was sent and no answer came: the cluster is being asked whether it had an effect. It is "+
			"not sent again.")
	unknown.Steps[0].Why = message.New("step.unknown",
		"The command was sent and no answer came.")
	unknown.Steps[0].Error = "connection(mongos-0:27017) incomplete read of message header: EOF"
	held := run("held", engine.Running, split, engine.Succeeded, engine.Running)
	held.Plan, held.StopBy, held.StopAt = recordNamed("heldplan"), "user:bert", v.Now.Add(-10*time.Second)
	stopped := run("stopped", engine.Stopped, split, engine.Succeeded)
	stopped.Plan, stopped.StopBy, stopped.StopAt = recordNamed("stoppedplan"), "user:bert", v.Now.Add(-40*time.Second)
	stopped.Why = message.New("stopped",
		"Stopped by {by} at {at}.", message.Text("by", "user:bert"), message.Time("at", mustTime("2026-03-01T11:59:20Z")))
	failed := run("failed", engine.Failed, move, engine.Failed)
	failed.Reason, failed.ByName = `"><script>alert(1)</script>`, "Olga <img src=x onerror=alert(1)>"
	failed.Steps[0].Error = `<script>alert("ChunkTooBig")</script> Cannot move chunk: the maximum number of documents for a chunk is 250000` + "\u202e"
	failed.Steps[0].Why, failed.Steps[0].Ended = message.New("step.serverRefused",
		"The server refused this command, and it had no effect."), v.Now.Add(-40*time.Second)
	refused := run("refused", engine.Refused, move, engine.Refused)
	refused.Steps[0].Why = message.New("step.changed",
		"What the command depends on has changed, so nothing was sent.")
	refused.Steps[0].Changed = move.Steps[0].Needs[len(move.Steps[0].Needs)-1].Against(map[string]string{"shard": "shard-rs-9"})
	undone := run("undone", engine.Undone, split, engine.Succeeded, engine.Succeeded, engine.Succeeded)
	undone.Plan, undone.UndoneBy, undone.Resolved = recordNamed("undoneplan"), recordNamed("succeeded"), true
	undone.Steps[1].Resolved = true
	return slices.Concat([]engine.Run{running, unknown, held}, []engine.Run{ok, stopped, failed, refused, undone})
}

// goalRuns are runs of a pin on a cluster that changes meanwhile: one that waits,
// one that was adapted, one that gave up, one that switches balancing on again.
func goalRuns(v answer.View, pin, pausing actions.Plan) []engine.Run {
	run := func(name string, p actions.Plan, state engine.State, done int) engine.Run {
		r := engine.Run{
			ID:      recordNamed(name),
			Plan:    recordNamed(name + "plan"),
			Kind:    p.Kind,
			Args:    p.Args,
			Summary: p.Summary,
			State:   state,
			By:      olga.ID,
			ByName:  olga.Name,
			Reason:  p.Reason,
			Started: v.Now.Add(-5 * time.Minute),
			Limits:  p.Limits,
		}
		for i, step := range p.Steps {
			s := engine.Step{Step: step, Command: p.Commands[i], State: engine.Planned}
			if i < done {
				s.State, s.Sent, s.Ended = engine.Succeeded, v.Now.Add(-4*time.Minute), v.Now.Add(-4*time.Minute)
			}
			r.Steps = append(r.Steps, s)
		}
		if !state.Open() {
			r.Ended = v.Now.Add(-10 * time.Second)
		}
		return r
	}
	last := len(pin.Steps) - 1
	wait := &engine.Backoff{
		Obstacle: actions.ObstacleMigration,
		Since:    v.Now.Add(-40 * time.Second),
		Next:     v.Now.Add(time.Second),
		Until:    v.Now.Add(14 * time.Minute),
		What: message.New(
			"obstacle.migrationOf",
			"The migration of a chunk of {ns} from {from} to {to}: a shard takes part in one at a time.",
			message.Namespace("ns", topology.Namespace("config.system.sessions")),
			message.Shard("from", "shard-rs-1"),
			message.Shard("to", "shard-rs-2"),
		),
	}
	putOff := func(r engine.Run, w *engine.Backoff) engine.Run {
		s := r.Steps[last]
		s.State, s.Sent, s.Ended = engine.Deferred, v.Now.Add(-41*time.Second), v.Now.Add(-40*time.Second)
		s.Why = message.New("step.deferred",
			"The server asked to try later. The next step tries again.")
		s.Error = `The cluster refused to move the chunk: "Unable to start new balancer operation because this shard is currently donating chunk"`
		again := engine.Step{Step: s.Step, Command: s.Command, State: engine.Waiting, Try: 1, Backoff: w}
		r.Steps = append(r.Steps[:last], s, again)
		return r
	}
	waiting := putOff(run("waiting", pin, engine.Waiting, last), wait)
	waiting.Why = message.New("run.obstacle",
		"Waiting: something is in the way; the step says what.")
	gaveUp := putOff(
		run("gaveup", pin, engine.Failed, last),
		&engine.Backoff{Obstacle: actions.ObstacleOrphans, Since: v.Now.Add(-26 * time.Minute), Until: v.Now.Add(-time.Minute),
			What: message.New("obstacle.orphansUntil",
				"This range was moved away from {shard} at {since}, and {shard} still has to delete its documents; "+
					"it cannot take the range back before about {until}.", message.Shard("shard", "shard-rs-2"),
				message.Time("since", mustTime("2026-03-01T11:30:00Z")), message.Time("until", mustTime("2026-03-01T11:45:00Z")))},
	)
	end := &gaveUp.Steps[last+1]
	end.State, end.Ended = engine.Failed, v.Now.Add(-10*time.Second)
	end.Why = message.New(
		"step.gaveUp",
		"Gave up after {tries} tries; the same obstacle had been in the way since {since}.",
		message.Time("since", mustTime("2026-03-01T11:30:00Z")),
		message.Count("tries", 9),
	)
	gaveUp.Why = end.Why
	adapted := run("adapted", pin, engine.Running, last)
	adapted.Steps[last].State, adapted.Steps[last].Sent = engine.Running, v.Now.Add(-time.Second)
	adapted.Steps[last-1].Already, adapted.Steps[last-1].Sent = engine.ByBalancer, time.Time{}
	adapted.Steps[last-1].Why = message.New("step.already",
		"Nothing was sent: {by} had already made this change.", message.Coded("by", engine.ByBalancer, "the balancer"))
	adapted.Adaptations = []engine.Adaptation{{At: v.Now.Add(-time.Minute), Step: 3, Before: 4, After: 5,
		Because: pin.Steps[last].Needs[1].Against(map[string]string{"exists": "false"})}}
	restoring := run("restoring", pausing, engine.Running, len(pausing.Steps)-len(pausing.Effect.Moves))
	restoring.Why, restoring.StopBy, restoring.StopAt = message.New("run.restoring",
		"Balancing is being switched on again."), "user:bert", v.Now.Add(-5*time.Second)
	return []engine.Run{waiting, gaveUp, adapted, restoring}
}

func withActions(a engine.Service) func(*site.Deps) { return func(d *site.Deps) { d.Actions = a } }

func mustTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}
