package answer

import (
	"errors"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ConnectionOf is how the cluster is reached.
func ConnectionOf(v View) api.Connection {
	c := v.Table.Connection
	out := api.Connection{State: ConnectionState(v.Table), Mongos: []api.Mongos{}, Address: c.Address, Former: v.Table.Formerly,
		Changed: api.Time(c.Replaced), Refused: c.FileError}
	for _, e := range c.Endpoints {
		m := api.Mongos{Address: e.Address, Since: api.Time(e.Since), Reason: e.Reason}
		if up := e.Up; !e.Since.IsZero() {
			m.Up = &up
		}
		out.Mongos = append(out.Mongos, m)
	}
	switch h := ReadingHealth(v.Table); out.State {
	case "connected", "partly":
	case "reading":
		out.Since = api.Time(v.Table.Began)
	default:
		since := h.At
		if since.IsZero() {
			since = v.Table.Began
		}
		out.Since, out.Reason = api.Time(since), fault.Text(h.Err)
	}
	return out
}

// ReadingHealth is how reading the cluster goes: the routing table, and before the first one what else it
// needs.
func ReadingHealth(t *topology.Table) topology.Health {
	h := t.Health[topology.PartRouting]
	for _, p := range []topology.Part{topology.PartShards, topology.PartDatabases} {
		if !t.IsRead() && h.Err == nil && !h.At.IsZero() {
			h = t.Health[p]
		}
	}
	return h
}

// ConnectionStates are the states of api.Connection.
var ConnectionStates = []string{"connected", "partly", "reading", "never", "lost", "refused", "denied", "notMongos", "otherCluster"}

// ConnectionState is one of ConnectionStates.
func ConnectionState(t *topology.Table) string {
	h := ReadingHealth(t)
	var other *topology.OtherClusterError
	switch {
	case errors.As(h.Err, &other):
		return "otherCluster"
	case h.Err == nil && (h.At.IsZero() || !t.Saved.IsZero()):
		return "reading"
	case h.Err == nil && len(t.Connection.Down()) > 0:
		return "partly"
	case h.Err == nil:
		return "connected"
	case h.Denied:
		return "denied"
	}
	switch fault.Of(h.Err) {
	case fault.Forbidden:
		return "refused"
	case fault.Invalid:
		return "notMongos"
	}
	if h.At.IsZero() {
		return "never"
	}
	return "lost"
}

// ConnectionTitles say what is wrong while the cluster is not read.
var ConnectionTitles = map[string]string{
	"never":        "The cluster is not reached",
	"lost":         "The cluster does not answer",
	"refused":      "The cluster refuses the sign-in",
	"denied":       "The cluster user may not read the routing table",
	"notMongos":    "No mongos answers at the address",
	"otherCluster": topology.OtherClusterTitle,
}

// NotReached says that something is not known because there is no routing table; the zero State when the
// ordinary reasons say it. The banner of the page has the reason.
func NotReached(t *topology.Table) api.State {
	s := WhyNotReached(t)
	if s.Code != "" {
		s.Title, s.Detail = "Not known: the cluster was not read since the start of shardboard", "This fills in by itself once it is."
	}
	return s
}

// WhyNotReached is why there is no routing table; the zero State when the ordinary reasons say it.
func WhyNotReached(t *topology.Table) api.State {
	title := ConnectionTitles[ConnectionState(t)]
	if t.Loaded || title == "" {
		return api.State{}
	}
	h := ReadingHealth(t)
	s := api.State{Code: "failed", Title: title + ": never since the start of shardboard at " + FullInstant(t.Began),
		Detail: fault.Text(h.Err)}
	if h.Denied {
		s.Code, s.Title, s.Detail = "denied", title, DenialHelp(h)
	}
	s.Detail += " shardboard keeps trying; this fills in by itself."
	return s
}

// DenialHelp is what helps when reading is not permitted.
func DenialHelp(h topology.Health) string {
	if h.Product != "" {
		return h.Product + " refuses this to every user; no grant helps."
	}
	return "Grant the cluster user " + h.Privilege + "."
}

// ConnectionNotes are what to know of the connection beside data that is shown.
func ConnectionNotes(v View) (list []api.State) {
	if v.Past != nil {
		return nil
	}
	c := v.Table.Connection
	if down := c.Down(); len(down) > 0 && ConnectionState(v.Table) == "partly" {
		s := api.State{Code: "partial", Title: format.Count(int64(len(down))) + " of " + format.Count(int64(len(c.Endpoints))) +
			" mongos of the address" + message.Plural(len(down), " does", " do") + " not answer"}
		for _, e := range down[:min(len(down), 3)] {
			s.Detail += e.Address + " since " + format.Clock(e.Since) + ". " + e.Reason + " "
		}
		s.Detail += "shardboard uses the rest."
		list = append(list, s)
	}
	if c.FileError != "" {
		list = append(list, api.State{Code: "partial", Title: "The changed address of the cluster is not used; the old one stays",
			Detail: c.FileError})
	}
	if f := v.Table.Formerly; f != "" {
		list = append(list, api.State{Code: "partial", Title: "Another cluster than before is at this address",
			Detail: "It was " + f + " until the start at " + FullInstant(v.Table.Began) + ", and is " + v.Table.ClusterID +
				". The history of the former one is kept in the store; pages show that of this one."})
	}
	return list
}

// LastRecorded is a link to the last recorded state of a cluster that was not reached yet.
type LastRecorded struct {
	URL, Text string
}

// LastRecordedAt links to a page at a recorded time; the zero time to nothing.
func LastRecordedAt(page string, at time.Time) LastRecorded {
	if at.IsZero() {
		return LastRecorded{}
	}
	at = at.Truncate(time.Millisecond)
	return LastRecorded{URL: WithAt(page, at), Text: "Look at its last recorded state, of " + FullInstant(at)}
}
