package rules

import (
	"cmp"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// BalancerOff finds a balancer that is switched off, or in a mode in which it moves nothing.
const BalancerOff Rule = "balancer-off"

var balancerOff = rule{id: BalancerOff, name: "Balancer off", find: findBalancerOff,
	needs: []topology.Part{topology.PartSettings}, playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findBalancerOff(ev *evaluation) {
	b := ev.Table.Balancer
	if !b.Known {
		ev.cannot("", unreadPart(topology.PartSettings))
		return
	}
	if !ev.switchedOff() {
		return
	}
	pause, paused := ev.pausedBy()
	if paused && !pause.RunOpen {
		return // BalancingPaused lists it
	}
	p := Problem{
		Subject:  "balancer",
		Severity: Warn,
		Why:      message.New("off.long", "New data can pile up on one shard."),
		Text:     ev.offText(),
	}
	if ev.Off.At.IsZero() {
		p.Why = message.New("off.unknown", "It is not known for how long. New data can pile up on one shard.")
	} else {
		p.Weight = ev.Now.Sub(ev.Off.At).Hours()
		if !ev.offLong() {
			p.Severity, p.Why = Info, message.New("off.short",
				"It was turned off less than an hour ago, perhaps for maintenance.")
		}
	}
	if paused {
		p.Severity, p.Why = Info, message.New("off.byRun",
			"The run {run} paused it and turns it on again at its end.",
			message.Text("run", pause.Run))
	}
	if b.Broken() {
		p.Severity, p.Why, p.Text = Warn, message.New("off.refused",
			"The server skips its rounds while the value is there, or reads it as off. New data can pile up on one shard."), b.RefusedText()
	}
	p.Evidence = []Evidence{
		ev.offEvidence(),
		ev.text(message.New("off.mode", "Mode"), message.Text("value", b.Mode), topology.PartSettings),
	}
	waiting := 0
	for _, s := range ev.Table.Shards {
		if s.Draining {
			waiting++
		}
	}
	if waiting > 0 {
		p.Severity, p.Why = Critical, message.New("off.draining", "A draining shard waits for it.")
		p.Evidence = append(p.Evidence, ev.counted(message.New("off.drainingShards", "Draining shards"), waiting))
	}
	if wrong := ev.wronglyPlaced(); wrong > 0 {
		p.Evidence = append(p.Evidence, ev.counted(message.New("off.zoneWrong", "Chunks outside their zone"), wrong))
	}
	for _, r := range b.Refused {
		p.Evidence = append(p.Evidence, ev.text(message.New("off.refusedValue", "Refused: {field}", message.Text("field", r.Name())),
			message.Text("value", cmp.Or(r.Value, "missing")), topology.PartSettings))
	}
	if p.Remedy = ev.mendSettings(); b.Broken() {
		ev.add(p)
		return
	}
	p.Remedy = Remedy{
		Plans: []Plan{turnBalancerOn()},
		Commands: []Command{
			readCommand(`db.getSiblingDB("config").actionlog.find({what: /^balancer/}).sort({time: -1}).limit(3)`,
				"off.whoStopped", "who turned it off, if the cluster still has the entry"),
			startBalancer(),
		},
	}
	ev.add(p)
}

// offText says since when the balancer moves nothing.
func (ev *evaluation) offText() message.Message {
	if ev.Table.Balancer.Enabled() {
		return ev.lasting("splitsOnly", "The balancer's mode is autoSplitOnly: it moves nothing",
			"The balancer's mode has been autoSplitOnly, in which it moves nothing,", ev.Off)
	}
	return ev.lasting("off", "The balancer is off", "The balancer has been off", ev.Off)
}

// wronglyPlaced counts chunks outside their zone.
func (ev *evaluation) wronglyPlaced() int {
	n := 0
	for _, z := range ev.Table.Zones {
		n += len(ev.misplaced(z))
	}
	return n
}
