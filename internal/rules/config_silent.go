package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ConfigSilent finds config servers that do not answer.
const ConfigSilent Rule = "config-silent"

var configSilent = rule{id: ConfigSilent, name: "Config servers do not answer", find: findConfigSilent, noPlaybook: aboutMachines}

func findConfigSilent(ev *evaluation) {
	a := ev.Table.Answering
	if ev.Past || a.At.IsZero() || a.Config.State != topology.Silent {
		return
	}
	set, _ := ev.Table.ConfigSet()
	p := Problem{
		Subject: "config", Severity: Critical,
		Text: message.New("silent.config", "The config servers have not answered since {at}.", message.Time("at", a.Config.Since)),
		Why: message.New("silent.config.why", "Routing can neither be read nor changed: what is shown is from then. "+
			"mongos answers only what it needs no config server for."),
		Evidence: append(answerEvidence(a.Config, a.At), memberEvidence(set, a.At)...),
		Remedy:   lookAtMembers(),
	}
	if a.ReadOnly {
		p.Text = message.New("silent.config.primary", "The primary of the config servers has not answered since {at}.",
			message.Time("at", a.Config.Since))
		p.Why = message.New("silent.config.readOnly",
			"Routing can be read, not changed: nothing is split, moved or merged until there is a primary.")
	}
	ev.add(p)
}
