package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Drift finds collections that are not sharded as the application's schema expects.
const Drift Rule = "drift"

var drift = rule{id: Drift, name: "Sharding differs from the layout", page: PageLayout, find: findDrift,
	noPlaybook: "each finding has its own remedy, on /layout"}

func findDrift(ev *evaluation) {
	if ev.Profile == nil {
		return
	}
	for _, db := range ev.Profile.Match(ev.Table) {
		for _, f := range ev.Profile.DriftOf(ev.Table, db, "").Findings {
			if f.Code == profile.FindUnlisted {
				ev.cannot(string(f.NS), unlistedCollections())
				continue
			}
			if !f.Look {
				continue
			}
			p := Problem{
				Subject:  string(f.NS),
				NS:       f.NS,
				Severity: Info,
				Why:      message.New("drift.some", "It is placed differently than its schema expects."),
				Text:     driftText(f),
				Evidence: []Evidence{
					ev.text(message.New("drift.have", "Shard key here"), message.Text("value", f.Have), topology.PartRouting),
					ev.text(message.New("drift.want", "Shard key of the layout"), message.Text("value", f.Want), topology.PartRouting),
				},
			}
			if f.Code == profile.FindUnsharded || f.Code == profile.FindDifferent && f.Variant == "" {
				p.Severity, p.Why = Warn, message.New("drift.much",
					"It is on too few shards, or sharded by an unexpected key.")
			}
			p.Remedy = ev.fixRemedy(f)
			ev.add(p)
		}
	}
}

// driftText says how a collection differs from the layout.
func driftText(f profile.Finding) message.Message {
	pattern := map[string]string{
		profile.FindMissing:   "{ns} is missing; the layout shards it by {want}.",
		profile.FindUnsharded: "{ns} is not sharded; the layout shards it by {want}.",
		profile.FindDifferent: "{ns} is sharded by {have}; the layout has {want}.",
		profile.FindSharded:   "{ns} is sharded by {have}; the layout leaves it on one shard.",
		profile.FindNewer:     "{ns} belongs to a newer layout, {layout}, than the rest.",
	}[f.Code]
	return message.New("drift."+f.Code, pattern, message.Namespace("ns", f.NS),
		message.Text("want", f.Want), message.Text("have", f.Have), message.Text("layout", f.Layout))
}

// fixRemedy is the plan that repairs a finding, or the commands where there is none.
func (ev *evaluation) fixRemedy(f profile.Finding) Remedy {
	commands := fixCommands(f)
	switch {
	case len(commands) == 0:
		return Remedy{WhyNot: message.New("drift.noCommand", "No command repairs this. See the layout page.")}
	case f.Fix.Code == profile.FixRefine:
		return Remedy{Plans: []Plan{refinePlan(f.NS, f.Fix.Key)}, Commands: preparing("refine-key", createIndex(f.NS, f.Want))}
	case f.Fix.Code == profile.FixReshard:
		return Remedy{Plans: []Plan{reshardPlan(f.NS, f.Fix.Key)}}
	case f.Fix.Code == profile.FixMerge:
		return Remedy{Plans: []Plan{unshardPlan(f.NS, ev.Table.Primary(f.NS.Database()))}}
	}
	return Remedy{WhyNot: commandsOnly(), Commands: commands}
}

// fixCommands are the commands that repair a finding.
func fixCommands(f profile.Finding) []Command {
	explanation := map[string]string{
		profile.FixShard:   "as the layout has it; fast while it is small",
		profile.FixRefine:  "as the layout has it; cannot be undone",
		profile.FixReshard: "as the layout has it; rewrites the collection",
		profile.FixMerge:   "gathers it on one shard",
		profile.FixDrop:    "deletes it: only when nothing reads it any more",
	}[f.Fix.Code]
	var out []Command
	for _, text := range f.Fix.Commands {
		out = append(out, writeCommand(text, "drift."+f.Fix.Code, explanation))
	}
	return out
}
