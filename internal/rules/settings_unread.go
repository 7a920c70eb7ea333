package rules

import (
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// SettingsUnread finds values of config.settings that the server's release does not read.
const SettingsUnread Rule = "settings-unread"

var settingsUnread = rule{id: SettingsUnread, name: "Settings without effect", find: findSettingsUnread,
	needs: []topology.Part{topology.PartSettings}, noPlaybook: "they do nothing: remove them, or correct the name"}

func findSettingsUnread(ev *evaluation) {
	if len(ev.Table.Balancer.Unread) == 0 {
		return
	}
	list := ev.Table.Balancer.Unread
	const most = 3
	names := strings.Join(list[:min(len(list), most)], ", ")
	if len(list) > most {
		names += " and more"
	}
	text := message.New("settingsUnread", message.Plural(len(list),
		"config.settings has a value that MongoDB {release} does not read: {names}.",
		"config.settings has values that MongoDB {release} does not read: {names}."),
		message.Text("names", names),
		message.Words("release", ev.release().String()), message.Count("n", len(list)))
	p := Problem{
		Subject:  "settings",
		Severity: Info,
		Why:      message.New("settingsUnread.none", "Whoever wrote it may expect an effect that it does not have."),
		Text:     text,
		Weight:   float64(len(list)),
		Remedy: Remedy{WhyNot: commandsOnly(), Commands: []Command{readCommand(`db.getSiblingDB("config").settings.find()`,
			"settingsUnread.show", "all settings as they are written")}},
	}
	for _, name := range list {
		p.Evidence = append(p.Evidence, ev.text(message.New("settingsUnread.name", "Not read"),
			message.Text("value", name), topology.PartSettings))
	}
	ev.add(p)
}

// mendSettings are plans and commands that replace the values of config.settings that the server refuses.
func (ev *evaluation) mendSettings() (r Remedy) {
	const settings = `db.getSiblingDB("config").settings.`
	plans := map[string]Plan{
		"stopped": turnBalancerOn(), "mode": turnBalancerOn(),
		"activeWindow":    plan("balancer-window", message.New("settings.noWindow", "Let the balancer run at any time.")),
		"activeWindowDOW": plan("balancer-window", message.New("settings.noWindow", "Let the balancer run at any time.")),
	}
	used := map[string]bool{}
	for _, f := range ev.Table.Balancer.Refused {
		switch p, has := plans[f.Field]; {
		case f.Doc == "balancer" && has:
			if !used[p.Kind] {
				used[p.Kind] = true
				r.Plans = append(r.Plans, p)
			}
		case f.Doc == "balancer":
			r.Commands = append(r.Commands, writeCommand(settings+`updateOne({_id: "balancer"}, {$unset: {`+f.Field+`: ""}})`,
				"settings.unset", "removes the value, so that the default counts"))
		case f.Doc == "automerge":
			r.Commands = append(r.Commands, writeCommand("sh.startAutoMerger()", "settings.automerge", "writes the setting anew, as on"))
		default:
			r.Commands = append(r.Commands, writeCommand(settings+`deleteOne({_id: "`+f.Doc+`"})`,
				"settings.delete", "removes the document, so that the default counts"))
		}
	}
	if len(r.Plans) == 0 && len(r.Commands) > 0 {
		r.WhyNot = commandsOnly()
	}
	return r
}

// idleRemedy makes a balancer run that moves nothing.
func (ev *evaluation) idleRemedy() Remedy {
	if ev.Table.Balancer.Broken() {
		return ev.mendSettings()
	}
	return balancerOnRemedy()
}

// idle says why the balancer moves nothing, in the middle of a sentence.
func (ev *evaluation) idle() message.Fact {
	if ev.Table.Balancer.Broken() {
		return message.Words("idle", "does not run, because the server refuses one of its settings")
	}
	return message.Words("idle", "is off")
}
