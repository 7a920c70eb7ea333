package rules

import (
	"maps"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// RouterVersions finds clusters whose mongos have different versions.
const RouterVersions Rule = "router-versions"

var routerVersions = rule{id: RouterVersions, name: "mongos versions differ", find: findRouterVersions,
	needs: []topology.Part{topology.PartRouters}, noPlaybook: "a note about an upgrade that is not complete"}

func findRouterVersions(ev *evaluation) {
	count := map[string]int{}
	for _, r := range ev.Table.Routers {
		if ev.Now.Sub(r.Ping) < routerSilentFor {
			count[r.Version]++
		}
	}
	if len(count) < 2 {
		return
	}
	versions := natural.Sorted(maps.Keys(count))
	p := Problem{
		Subject:  "mongos",
		Severity: Info,
		Why:      message.New("router.upgrade", "Fine during an upgrade, not for long."),
		Text: message.New("router.versions",
			"mongos of different versions are running: {versions}.",
			message.Text("versions", strings.Join(versions, ", "))),
		Remedy: Remedy{
			WhyNot:   message.New("router.finish", "Finish the upgrade."),
			Commands: []Command{listRouters()},
		},
	}
	for _, v := range versions {
		p.Evidence = append(p.Evidence, ev.counted(message.New("router.of",
			"mongos of version {version}",
			message.Text("version", v)), count[v]))
	}
	ev.add(p)
}
