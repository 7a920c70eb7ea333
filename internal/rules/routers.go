package rules

import (
	"maps"
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// A mongos pings every 10 s and its row stays for ever: one that was silent for a
// few minutes but not for days has probably died.
const (
	routerSilentFor = 3 * time.Minute
	routerGoneFor   = 48 * time.Hour
)

// routerSilent: a mongos that pinged lately and does not any more.
func routerSilent(l *look) {
	if l.Past || l.unread(topology.PartRouters) || l.Table.Stale(topology.PartRouters, l.Now) {
		return // of an old list every mongos would be silent
	}
	for _, r := range l.Table.Routers {
		silent := l.Now.Sub(r.Ping)
		if silent < routerSilentFor || silent >= routerGoneFor {
			continue
		}
		l.add(Problem{Subject: r.Host, Severity: Info, Why: say("router.stopped"), Weight: -silent.Hours(), Text: say("router.silent", "host", r.Host, "since", at(r.Ping)),
			Evidence: []Evidence{{Name: say("router.ping"), Unit: "time", Known: true, Time: r.Ping, Exact: true, Method: "routing", At: l.Table.Health[topology.PartRouters].At},
				l.text("router.version", r.Version, topology.PartRouters)},
			Remedy: Remedy{WhyNot: say("router.look"), Commands: []Command{check(`db.getSiblingDB("config").mongos.find().sort({ping: -1})`, "router.list")}}})
	}
}

// routerVersions: routers of several releases serve the cluster.
func routerVersions(l *look) {
	if l.unread(topology.PartRouters) {
		return
	}
	count := map[string]int{}
	for _, r := range l.Table.Routers {
		if l.Now.Sub(r.Ping) < routerSilentFor {
			count[r.Version]++
		}
	}
	if len(count) < 2 {
		return
	}
	versions := slices.Sorted(maps.Keys(count))
	p := Problem{Subject: "mongos", Severity: Info, Why: say("router.upgrade"), Text: say("router.versions", "versions", strings.Join(versions, ", ")),
		Remedy: Remedy{WhyNot: say("router.finish"), Commands: []Command{check(`db.getSiblingDB("config").mongos.find().sort({ping: -1})`, "router.list")}}}
	for _, v := range versions {
		p.Evidence = append(p.Evidence, l.counted("router.of", count[v], "version", v))
	}
	l.add(p)
}
