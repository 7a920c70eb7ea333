package rules

import (
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// ShardSilent finds shards that do not answer.
const ShardSilent Rule = "shard-silent"

const aboutMachines = "it is about a machine, not about data"

var shardSilent = rule{id: ShardSilent, name: "Shard does not answer", find: findShardSilent, noPlaybook: aboutMachines}

func findShardSilent(ev *evaluation) {
	a := ev.Table.Answering
	if ev.Past || a.At.IsZero() {
		return
	}
	unasked, all := whyAllUnasked(ev.Table)
	if all {
		ev.cannot("", message.New("silent.allUnasked", "No shard could be asked: {reason}", message.Words("reason", unasked)))
	}
	for _, s := range ev.Table.Shards {
		answer := a.Shards[s.Name]
		set, known := ev.Table.SetOf(s)
		noPrimary := known && !set.HasPrimary()
		p := Problem{
			Subject: s.Name, Shard: s.Name, Severity: Critical, Weight: float64(ev.chunksOn(s.Name)),
			Why:    message.New("silent.shard.why", "What is read or written there waits or fails, and no chunk moves to it or from it."),
			Remedy: lookAtMembers(),
		}
		switch {
		case answer.State == topology.Silent:
			p.Text = message.New("silent.shard", "{shard} has not answered since {at}.",
				message.Shard("shard", s.Name), message.Time("at", answer.Since))
			p.Evidence = answerEvidence(answer, a.At)
		case noPrimary && (answer.State == topology.NotAsked && answer.Err == nil || longAway(set, ev.Now)):
			p.Text = message.New("silent.noPrimary", "mongos reaches no primary of {shard}.", message.Shard("shard", s.Name))
		case answer.Err != nil:
			if !all {
				ev.cannot(s.Name, message.New("silent.unasked", "{shard} could not be asked: {reason}",
					message.Shard("shard", s.Name), message.Words("reason", fault.Text(answer.Err))))
			}
			continue
		case answer.State == topology.NotAsked && !known:
			ev.cannot(s.Name, message.New("silent.nothing", "{shard} has no chunk, so that it cannot be asked for a row.",
				message.Shard("shard", s.Name)))
			continue
		default:
			continue
		}
		p.Evidence = append(p.Evidence, ev.counted(message.New("silent.chunks", "Its chunks"), ev.chunksOn(s.Name)))
		p.Evidence = append(p.Evidence, memberEvidence(set, a.At)...)
		ev.add(p)
	}
}

// whyAllUnasked is why none of several shards could be asked, if it is the same for all: then it is the mongos.
func whyAllUnasked(t *topology.Table) (reason string, all bool) {
	for i, s := range t.Shards {
		err := t.Answering.Shards[s.Name].Err
		if err == nil || i > 0 && fault.Text(err) != reason {
			return "", false
		}
		reason = fault.Text(err)
	}
	return reason, len(t.Shards) > 1
}

// longAway tells whether all members have been away for some time: an election takes seconds.
func longAway(set topology.ReplicaSet, now time.Time) bool {
	for _, m := range set.Members {
		if m.Away.IsZero() || now.Sub(m.Away) < memberAwayFor {
			return false
		}
	}
	return true
}

func (ev *evaluation) chunksOn(shard string) (n int) {
	for _, c := range ev.sharded() {
		n += c.Chunks.CountByShard()[shard]
	}
	return n
}

func answerEvidence(a topology.Answer, at time.Time) []Evidence {
	out := []Evidence{textFrom(message.New("silent.said", "mongos says"), message.Server("value", sanitize.Line(a.Said)), "find", at)}
	if !a.Last.IsZero() {
		out = append(out, timeFrom(message.New("silent.last", "Last answer"), a.Last, "find", at))
	}
	return out
}

func memberEvidence(set topology.ReplicaSet, at time.Time) (out []Evidence) {
	for _, m := range set.Members {
		state := m.State()
		if !m.Reached {
			state = "not reached"
		}
		out = append(out, textFrom(message.New("silent.member", "{member}", message.Text("member", m.Address)),
			message.Words("value", state), "connPoolStats", at))
	}
	return out
}

func lookAtMembers() Remedy {
	return Remedy{
		WhyNot: message.New("silent.look", "shardboard mends no server. Look whether the machines run, reach each other and are not overloaded."),
		Commands: []Command{readCommand("rs.status()", "silent.status",
			"On a member of the replica set: which members there are and which is the primary.")},
	}
}
