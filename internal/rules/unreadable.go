package rules

import (
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// parts of the table, in the order in which they are listed. Projects are read
// beside it and have a health of their own.
var parts = []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
	topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections, topology.PartDisks}

// partProjects is the name of the list of projects among the parts.
const partProjects = "projects"

// failedBeforeLoad tells whether the first read of the table has failed.
func (l *look) failedBeforeLoad() bool {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases} {
		if h := l.Table.Health[p]; h.Err != nil || h.Denied {
			return true
		}
	}
	return false
}

// unreadable: parts of the cluster's state that may not be read, or whose last
// read failed or is late. Without the routing table nothing else is known, so its
// failure is critical and stands for those that come with it.
func unreadable(l *look) {
	lost := l.Table.Health[topology.PartRouting].Err != nil
	for _, p := range parts {
		h, listed := l.Table.Health[p]
		if !listed {
			continue
		}
		switch {
		case h.Denied:
			l.denied(string(p), h, p == topology.PartRouting)
		case h.At.IsZero() && h.Err == nil:
			// The first read is under way; what depends on it says so itself.
		case l.Table.Stale(p, l.Now) && (!lost || p == topology.PartRouting):
			l.late(string(p), h, p == topology.PartRouting)
		}
	}
	if l.Directory == nil {
		return
	}
	switch h := l.Directory.Health(); {
	case h.Denied:
		l.denied(partProjects, h, false)
	case h.Err != nil && !lost:
		l.late(partProjects, h, false)
	}
}

func (l *look) denied(part string, h topology.Health, all bool) {
	p := Problem{Subject: part, Severity: Info, Why: say("unreadable.part"), Text: say("unreadable.denied", "part", part, "privilege", h.Privilege),
		Evidence: []Evidence{l.lastRead(h), {Name: say("unreadable.privilege"), Unit: "text", Known: true, Text: h.Privilege, Exact: true, Method: "watched", At: l.Now}},
		Remedy:   Remedy{WhyNot: say("unreadable.grant", "privilege", h.Privilege)}}
	if all {
		p.Severity, p.Why = Critical, say("unreadable.all")
	}
	l.add(p)
}

func (l *look) late(part string, h topology.Health, all bool) {
	p := Problem{Subject: part, Severity: Warn, Why: say("unreadable.old"), Text: say("unreadable.late", "part", part),
		Evidence: []Evidence{l.lastRead(h)}, Remedy: Remedy{WhyNot: say("unreadable.retried")}}
	if h.Err != nil {
		p.Text = say("unreadable.failed", "part", part, "error", fault.Text(h.Err))
	}
	if all {
		p.Severity, p.Why = Critical, say("unreadable.all")
	}
	l.add(p)
}

// lastRead is when a part was last read well.
func (l *look) lastRead(h topology.Health) Evidence {
	e := Evidence{Name: say("unreadable.last"), Unit: "time", Reason: "notLoaded"}
	if !h.At.IsZero() {
		e.Known, e.Reason, e.Time, e.Exact, e.Method, e.At = true, "", h.At, true, "watched", h.At
	}
	return e
}
