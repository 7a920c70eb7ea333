package rules

import (
	"time"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// A mongos pings every 10 s and its row stays for ever: one that was silent for a
// few minutes but not for days has probably died.
const (
	routerSilentFor = 3 * time.Minute
	routerGoneFor   = 48 * time.Hour
)

// RouterSilent finds mongos that stopped pinging lately.
const RouterSilent Rule = "router-silent"

var routerSilent = rule{id: RouterSilent, name: "Silent mongos", find: findRouterSilent, alone: alwaysOne,
	noPlaybook: aboutMachines}

func findRouterSilent(ev *evaluation) {
	if ev.Past || ev.unread(topology.PartRouters) || ev.Table.Stale(topology.PartRouters, ev.Now) {
		return // of an old list every mongos would be silent
	}
	for _, r := range ev.Table.Routers {
		silent := ev.Now.Sub(r.Ping)
		if silent < routerSilentFor || silent >= routerGoneFor {
			continue
		}
		ev.add(Problem{
			Subject:  r.Host,
			Severity: Info,
			Why:      message.New("router.stopped", "It was stopped, or cannot reach the config servers."),
			Weight:   -silent.Hours(),
			Text: message.New("router.silent",
				"The mongos {host} has not pinged for {since}.",
				message.Text("host", r.Host), message.Since("since", r.Ping)),
			Evidence: []Evidence{
				timeFrom(message.New("router.ping", "Last ping"), r.Ping, "routing", ev.Table.Health[topology.PartRouters].At),
				ev.text(message.New("router.version", "Version"), message.Text("value", r.Version), topology.PartRouters),
			},
			Remedy: Remedy{
				WhyNot: message.New("router.look",
					"Check the process. Its entry disappears from this list after two days."),
				Commands: []Command{listRouters()},
			},
		})
	}
}
