package webtest

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// runOf is a run of a plan that has sent nothing yet.
func runOf(name, plan string, p actions.Plan, state engine.State, started time.Time) engine.Run {
	r := engine.Run{ID: RecordID(name), Plan: plan, Kind: p.Kind, Args: p.Args, Summary: p.Summary, State: state, By: Olga.ID,
		ByName: Olga.Name, Reason: p.Reason, Started: started}
	for i, step := range p.Steps {
		r.Steps = append(r.Steps, engine.Step{Step: step, Command: p.Commands[i], State: engine.Planned})
	}
	return r
}

func cannedRuns(v answer.View, split, move actions.Plan) []engine.Run {
	run := func(name string, state engine.State, p actions.Plan, states ...engine.State) engine.Run {
		r := runOf(name, p.ID, p, state, v.Now.Add(-90*time.Second))
		for i, state := range states[:min(len(states), len(r.Steps))] {
			s := &r.Steps[i]
			s.State, s.Sent = state, v.Now.Add(time.Duration(i-80)*time.Second)
			if state == engine.Succeeded {
				s.Ended = s.Sent.Add(600 * time.Millisecond)
				for _, f := range s.Proof {
					s.Proven = append(s.Proven, engine.Reading{Fact: f, Got: f.Want, At: s.Ended})
				}
			}
		}
		if !state.Open() {
			r.Ended = v.Now.Add(-30 * time.Second)
		}
		return r
	}
	move.ID = RecordID("ran") // so that the plan itself can still be run
	ok := run("succeeded", engine.Succeeded, split, engine.Succeeded, engine.Succeeded, engine.Succeeded)
	running := run("running", engine.Running, move, engine.Running)
	running.Steps[0].Progress = engine.Progress{Done: 3, Total: 6}
	running.Steps[0].Events = []topology.Event{
		{ID: "e1", Time: v.Now.Add(-50 * time.Second), What: "moveChunk.start", NS: string(move.Args.NS), Shard: move.Args.To,
			Details: MustBSON(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: move.Args.To}})},
	}
	unknown := run("unknown", engine.Unknown, move, engine.Unknown)
	unknown.Why = message.New("unknown",
		"It is not known whether the last command had its effect.")
	unknown.Steps[0].Why = message.New("step.unknown",
		"The command was sent. It is not known whether it had its effect.")
	unknown.Steps[0].Error = "connection(mongos-0:27017) incomplete read of message header: EOF"
	held := run("held", engine.Running, split, engine.Succeeded, engine.Running)
	held.Plan, held.StopBy, held.StopAt = RecordID("heldplan"), "user:bert", v.Now.Add(-10*time.Second)
	stopped := run("stopped", engine.Stopped, split, engine.Succeeded)
	stopped.Plan, stopped.StopBy, stopped.StopAt = RecordID("stoppedplan"), "user:bert", v.Now.Add(-40*time.Second)
	stopped.Why = message.New("stopped",
		"Stopped by {by} at {at}.", message.Text("by", "user:bert"), message.Time("at", mustTime("2026-03-01T11:59:20Z")))
	failed := run("failed", engine.Failed, move, engine.Failed)
	failed.Reason, failed.ByName = `"><script>alert(1)</script>`, "Olga <img src=x onerror=alert(1)>"
	failed.Steps[0].Error = `<script>alert("ChunkTooBig")</script> Cannot move chunk: the maximum number of documents for a chunk is 250000` +
		"\u202e"
	failed.Steps[0].Why, failed.Steps[0].Ended = message.New("step.serverRefused",
		"The server refused this command, and it had no effect."), v.Now.Add(-40*time.Second)
	refused := run("refused", engine.Refused, move, engine.Refused)
	refused.Steps[0].Why = message.New("step.changed",
		"What the command depends on has changed, so nothing was sent.")
	refused.Steps[0].Changed = move.Steps[0].Needs[len(move.Steps[0].Needs)-1].Against(map[string]string{"shard": "shard-rs-9"})
	undone := run("undone", engine.Undone, split, engine.Succeeded, engine.Succeeded, engine.Succeeded)
	undone.Plan, undone.UndoneBy, undone.Resolved = RecordID("undoneplan"), RecordID("succeeded"), true
	undone.Steps[1].Resolved = true
	return slices.Concat([]engine.Run{running, unknown, held}, []engine.Run{ok, stopped, failed, refused, undone})
}

// goalRuns are runs of a pin on a cluster that changes meanwhile: one that waits,
// one that was adapted, one that gave up, one that switches balancing on again.
func goalRuns(v answer.View, pin, pausing actions.Plan) []engine.Run {
	run := func(name string, p actions.Plan, state engine.State, done int) engine.Run {
		r := runOf(name, RecordID(name+"plan"), p, state, v.Now.Add(-5*time.Minute))
		r.Limits = p.Limits
		for i := range r.Steps[:done] {
			s := &r.Steps[i]
			s.State, s.Sent, s.Ended = engine.Succeeded, v.Now.Add(-4*time.Minute), v.Now.Add(-4*time.Minute)
		}
		if !state.Open() {
			r.Ended = v.Now.Add(-10 * time.Second)
		}
		return r
	}
	last := len(pin.Steps) - 1
	wait := &engine.Backoff{
		Obstacle: operation.ObstacleMigration,
		Since:    v.Now.Add(-40 * time.Second),
		Next:     v.Now.Add(time.Second),
		Until:    v.Now.Add(14 * time.Minute),
		What: message.New(
			"obstacle.migrationOf",
			"The move of a chunk of {ns} from {from} to {to}: a shard takes part in one at a time.",
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
		&engine.Backoff{Obstacle: operation.ObstacleOrphans, Since: v.Now.Add(-26 * time.Minute), Until: v.Now.Add(-time.Minute),
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
		"Balancing is being turned on again."), "user:bert", v.Now.Add(-5*time.Second)
	queued := run("queued", pin, engine.Waiting, 0)
	queued.Why = message.New("run.waiting.collection", "Waiting for {ns}, which run {run} is changing.",
		message.Namespace("ns", "yorkie-meta.documents"), message.Text("run", RecordID("waiting")))
	return []engine.Run{waiting, gaveUp, adapted, restoring, queued}
}

func mustTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}
