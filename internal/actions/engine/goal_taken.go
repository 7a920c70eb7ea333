package engine

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// A goal that somebody else's change has made false is reported, not fought. Chunks that moved are the balancer's
// work as a rule, and the run moves them again. Zones are never changed by the balancer, so what a run has made of
// them and no longer finds was taken back by a person, for instance by an unpin while the pin waits.

// zonesTakenBack lists what the run has made of zones and no longer finds. What cannot be read is not taken back,
// as far as is known.
func (x *execution) zonesTakenBack() []operation.Difference {
	var made []operation.Fact
	for _, s := range x.current().Steps {
		if s.Effects().ChangesZones && s.State == Succeeded {
			made = append(made, s.Proof...)
		}
	}
	_, different, err := x.e.readFacts(x.ctx, made)
	if err != nil {
		return nil
	}
	return different
}

// movesTakenBack lists the moves among steps that would reverse the move of another run or of a person.
func (x *execution) movesTakenBack(steps []operation.Step) (out []operation.Difference) {
	for _, s := range steps {
		if !s.Migrates() || x.runThatChanged(s.Proof) == "" && x.findAuthor(Step{Step: s}) != ByOther {
			continue
		}
		for _, f := range s.Proof {
			out = append(out, f.Against(operation.Fields(x.e.opts.Tables.Table(), f))...)
		}
	}
	return out
}

// goalTaken says who has made the goal false.
func (x *execution) goalTaken(code string, because []operation.Difference) message.Message {
	var facts []operation.Fact
	for _, d := range because {
		facts = append(facts, d.Fact)
	}
	const rest = " has changed what this run had done, so its goal no longer holds. It is not made again: " +
		"if it is still wanted, make a new plan."
	if by := x.runThatChanged(facts); by != "" {
		return message.New(code+".byRun", "Run {run}"+rest, message.Text("run", by))
	}
	return message.New(code, "Somebody else"+rest)
}

// changingRuns is how many runs are looked at to find the one that changed something.
const changingRuns = 100

// runThatChanged finds the newest other run that has changed, since this run began, what one of the facts is about.
func (x *execution) runThatChanged(facts []operation.Fact) string {
	run := x.current()
	records, err := x.e.opts.Journal.RunRecords(x.ctx, run.Cluster, 0, changingRuns)
	if err != nil {
		x.e.opts.Log.Warn("look for the run that changed the goal of another", "run", x.id, "err", err)
		return ""
	}
	t := x.e.opts.Tables.Table()
	for _, record := range records {
		if record.ID == run.ID {
			continue
		}
		for _, s := range x.e.currentRun(record).Steps {
			if s.leavesChange() && s.Already == "" && s.Sent.After(run.Started) &&
				slices.ContainsFunc(facts, func(f operation.Fact) bool { return changes(t, s, f) }) {
				return record.ID
			}
		}
	}
	return ""
}

// changes reports whether a step changes what a fact is about.
func changes(t *topology.Table, s Step, f operation.Fact) bool {
	switch f.Kind {
	case operation.FactShardZone, operation.FactZoneRange:
		return slices.ContainsFunc(s.Proof, func(made operation.Fact) bool { return factIdentity(made) == factIdentity(f) })
	case operation.FactCover:
		moved, ok := rangeClaim(t, operation.Step{NS: s.NS, Min: s.Min, Max: s.Max})
		about, known := rangeClaim(t, operation.Step{NS: f.NS, Min: f.Min, Max: f.Max})
		return s.Migrates() && ok && known && f.Want["shards"] != s.Shard && moved.overlaps(about)
	}
	return false
}
