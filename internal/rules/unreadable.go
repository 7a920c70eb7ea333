package rules

import (
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Unreadable finds parts of the cluster's state that may not be read, or whose last read failed
// or is late. Without the routing table nothing else is known, so its failure is critical and
// the failures that come with it are not listed.
const Unreadable Rule = "unreadable"

var unreadable = rule{id: Unreadable, name: "Not readable", find: findUnreadable, alone: neverOne,
	noPlaybook: "a missing right: the problem has the command that grants it"}

func findUnreadable(ev *evaluation) {
	lost := ev.Table.Health[topology.PartRouting].Err != nil
	for _, p := range parts {
		h, listed := ev.Table.Health[p]
		if !listed {
			continue
		}
		switch {
		case h.Denied:
			ev.denied(p, h, p == topology.PartRouting)
		case h.At.IsZero() && h.Err == nil:
			// The first read is under way; rules that depend on it list it as not checked.
		case ev.Table.Stale(p, ev.Now) && (!lost || p == topology.PartRouting):
			ev.late(p, h, p == topology.PartRouting)
		}
	}
	if ev.Directory == nil {
		return
	}
	switch h := ev.Directory.Health(); {
	case h.Denied:
		ev.denied(partProjects, h, false)
	case h.Err != nil && !lost:
		ev.late(partProjects, h, false)
	}
}

// partNamed is a part of the state by its name for people.
func partNamed(p topology.Part) message.Fact { return message.Words("part", p.Name()) }

// parts of the table, in the order in which they are listed. Projects are read
// beside it and have a health of their own.
var parts = []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
	topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections, topology.PartDisks}

// partProjects is the name of the list of projects among the parts.
const partProjects topology.Part = "projects"

// failedBeforeLoad tells whether the first read of the table has failed.
func (ev *evaluation) failedBeforeLoad() bool {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases} {
		if h := ev.Table.Health[p]; h.Err != nil || h.Denied {
			return true
		}
	}
	return false
}

func (ev *evaluation) denied(part topology.Part, h topology.Health, all bool) {
	p := Problem{
		Subject:  string(part),
		Severity: Info,
		Why:      message.New("unreadable.part", "What depends on it cannot be checked."),
		Text: message.New("unreadable.denied", "{part}: not permitted to read. The cluster user lacks {privilege}.",
			partNamed(part), message.Text("privilege", h.Privilege)),
		Evidence: []Evidence{
			ev.lastRead(h),
			textFrom(message.New("unreadable.privilege", "Privilege that is missing"), message.Text("value", h.Privilege), "watched", ev.Now),
		},
		Remedy: Remedy{WhyNot: message.New("unreadable.grant",
			"Grant the cluster user {privilege}. The command shardboard doctor prints how.",
			message.Text("privilege", h.Privilege))},
	}
	if all {
		p.Severity, p.Why = Critical, message.New("unreadable.all", "Everything shown here is out of date.")
	}
	ev.add(p)
}

func (ev *evaluation) late(part topology.Part, h topology.Health, all bool) {
	p := Problem{
		Subject:  string(part),
		Severity: Warn,
		Why:      message.New("unreadable.old", "What depends on it is out of date."),
		Text:     message.New("unreadable.late", "{part}: the last read is late.", partNamed(part)),
		Evidence: []Evidence{ev.lastRead(h)},
		Remedy: Remedy{WhyNot: message.New("unreadable.retried",
			"It is read again every few seconds. Check that the cluster answers.")},
	}
	if h.Err != nil {
		p.Text = message.New("unreadable.failed", "{part}: the last read failed. {error}",
			partNamed(part), message.Text("error", fault.Text(h.Err)))
	}
	switch {
	case all && h.At.IsZero():
		p.Severity, p.Why = Critical, message.New("unreadable.none", "Nothing of the cluster is known yet.")
	case all:
		p.Severity, p.Why = Critical, message.New("unreadable.all", "Everything shown here is out of date.")
	}
	ev.add(p)
}

// lastRead is when a part was last read well.
func (ev *evaluation) lastRead(h topology.Health) Evidence {
	e := Evidence{Name: message.New("unreadable.last", "Last successful read"), Unit: "time", Reason: "notLoaded"}
	if !h.At.IsZero() {
		e.Known, e.Reason, e.Time, e.Exact, e.Method, e.At = true, "", h.At, true, "watched", h.At
	}
	return e
}
