package engine

import (
	"strconv"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// How an outcome is settled.
const (
	firstLook   = 250 * time.Millisecond // pause after the first look at the cluster
	longestLook = 5 * time.Second        // longest pause between looks
	// proofLooks is how often a proof is looked for after the server said that it
	// is done, before it is called missing.
	proofLooks = 4
	// quiet is how long a command without effect must not have been seen at work
	// before it has failed.
	quiet = 20 * time.Second
	// late is how long after its time limit a command may still take effect.
	late = 5 * time.Second
	// eventLimit bounds the changelog entries that a step keeps.
	eventLimit = 50
)

// settle finds out from the cluster what became of a command that was sent. It
// only reads. An answer that the cluster is done is believed when the proof is
// read; that it refused, when the proof is not; no answer is settled when the
// effect is there, or nothing of ours can be at work any more. False at the end
// of the process.
func (x *execution) settle(i int, a answer, err error) bool {
	s := x.now().Steps[i]
	seen := now() // when it was last seen at work, or may have been
	if a == silence {
		x.doubt(i, err) // before the first look: a cluster that is gone lets it wait
	}
	looks := 0
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		verdict, known := x.look(s, a, err, looks, &seen)
		if x.e.life.Err() != nil {
			return false
		}
		if known {
			return x.conclude(i, verdict, err)
		}
		if looks++; looks > proofLooks {
			x.doubt(i, err)
		}
		if !x.pause(pause) {
			return false
		}
	}
}

// doubt shows that the outcome is not known, the first time also on disk.
func (x *execution) doubt(i int, err error) {
	r := x.now()
	if r.Steps[i].State == Unknown {
		return
	}
	change := func(r *Run) {
		s := &r.Steps[i]
		s.State, s.Why = Unknown, message.New("step.unknown",
			"The command was sent and no answer came.")
		if err != nil {
			s.failedBy(err)
		}
		r.State, r.Why = Unknown, runUnknown
	}
	if x.save(x.e.life, change) != nil {
		x.show(change) // the intent is on disk: after a crash it is unknown anyway
	}
	x.e.note(
		r.By,
		auditRunStep,
		x.id,
		"unknown",
		map[string]string{"step": strconv.Itoa(i), "op": string(r.Steps[i].Op), "state": string(Unknown)},
	)
}

// look reads the cluster once. known is false when that does not tell yet.
func (x *execution) look(s Step, a answer, err error, looks int, seen *time.Time) (verdict func(*Step), known bool) {
	proof, missing, readErr := x.e.read(x.e.life, s.Proof)
	if readErr != nil {
		*seen = now()
		return nil, false
	}
	if len(missing) == 0 {
		events, raced := x.events(s), x.changedSince(s)
		return func(s *Step) {
			s.Resolved = s.State == Unknown
			s.State, s.Proven, s.Events, s.Why = Succeeded, proof, events, message.Message{}
			s.Answered = a == done
			if raced {
				s.Why = message.New("step.raced",
					"The cluster is as it should be; but somebody else changed the same chunks after the last check "+
						"before the command.")
			}
			if a == refused {
				// Refused, and yet it is so: it was delivered twice, or somebody else did the
				// same at the same moment.
				s.Resolved, s.Why = true, message.New("step.refusedButSo",
					"The command was refused, but the cluster is as it should be: somebody else made the same change, "+
						"or the command arrived twice.")
				s.failedBy(err)
			}
		}, true
	}
	failed := func(why message.Message) (func(*Step), bool) {
		events := x.events(s)
		return func(s *Step) {
			s.Resolved = s.State == Unknown
			s.State, s.Proven, s.Changed, s.Events = Failed, proof, missing, events
			s.Why = why
			if err != nil {
				s.failedBy(err)
			}
		}, true
	}
	switch a {
	case refused:
		// A refusal may come from a server between, while the command goes on behind it.
		if looks == 0 {
			return nil, false
		}
		if t, err := x.e.o.Reader.Trace(x.e.life, x.id, s.Step, s.Sent); err != nil || t.Running {
			return nil, false
		}
		return failed(message.New("step.serverRefused",
			"The server refused this command, and it had no effect."))
	case done:
		if looks+1 < proofLooks {
			return nil, false
		}
		if x.changedSince(s) {
			return failed(stepChangedSince)
		}
		return failed(message.New("step.proofDiffers",
			"The command succeeded, but the cluster does not show its effect."))
	}
	return x.lookForTrace(s, seen, failed)
}

// lookForTrace settles silence without an effect.
func (x *execution) lookForTrace(s Step, seen *time.Time, failed func(message.Message) (func(*Step), bool)) (func(*Step), bool) {
	at := now()
	trace, err := x.e.o.Reader.Trace(x.e.life, x.id, s.Step, s.Sent)
	if err != nil || trace.Running {
		*seen = at
		return nil, false
	}
	over := at.Sub(*seen) >= quiet
	if !s.Migrates() && s.Op != actions.OpBalancerOff {
		over = at.Sub(s.Sent) >= limitOf(s.Step)+late
	}
	if !over {
		return nil, false
	}
	// The proof was read before the trace: what ended between the two had its effect
	// in between.
	if _, missing, err := x.e.read(x.e.life, s.Proof); err != nil || len(missing) == 0 {
		return nil, false
	}
	if x.changedSince(s) {
		return failed(stepChangedSince)
	}
	return failed(message.New("step.noEffect",
		"The command has had no effect, and it is no longer running."))
}

// events are what the changelog has of a step; not having them is no failure.
func (x *execution) events(s Step) []topology.Event {
	if s.NS == "" {
		return nil
	}
	t, err := x.e.o.Reader.Trace(x.e.life, x.id, s.Step, s.Sent)
	if err != nil {
		x.e.o.Log.Warn("read the changelog of a step", "run", x.id, "err", err)
		return nil
	}
	return t.Events[max(0, len(t.Events)-eventLimit):]
}
