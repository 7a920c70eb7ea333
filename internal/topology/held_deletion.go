package topology

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// CursorHolder is a program on a host with its cursors that hold up a deletion.
type CursorHolder struct {
	App    string // "": it has no name
	Host   string // "": not told
	Count  int
	Oldest time.Time
}

// Holders are the programs whose cursors hold up the deletion, the one with the oldest cursor first.
func (h HeldDeletion) Holders() (out []CursorHolder) {
	for _, k := range h.Cursors {
		i := slices.IndexFunc(out, func(o CursorHolder) bool { return o.App == k.App && o.Host == k.Client })
		if i < 0 {
			i, out = len(out), append(out, CursorHolder{App: k.App, Host: k.Client, Oldest: k.Opened})
		}
		out[i].Count++
	}
	return out
}

// OlderThan is what cursors hold up that were opened before a time; ok is false if none was.
func (h HeldDeletion) OlderThan(at time.Time) (older HeldDeletion, ok bool) {
	n := len(h.Cursors)
	for n > 0 && h.Cursors[n-1].Opened.After(at) {
		n--
	}
	if n < len(h.Cursors) {
		h.Cursors, h.Count = h.Cursors[:n], n
	}
	return h, n > 0
}

// Text says what the old documents wait for.
func (h HeldDeletion) Text() message.Message {
	code, wait := "held", "wait"
	if h.Unsure {
		code, wait = "held.unsure", "may wait"
	}
	return message.New(code, message.Plural(h.Count,
		"The old documents of {ns} "+wait+" for 1 open cursor of {programs} on {shard}, of {oldest}.",
		"The old documents of {ns} "+wait+" for {n} open cursors of {programs} on {shard}, the oldest of {oldest}."),
		message.Namespace("ns", h.NS), message.Count("n", h.Count), message.Text("programs", h.programs()),
		message.Shard("shard", h.Shard), message.Time("oldest", h.Oldest()))
}

// programs names the first programs.
func (h HeldDeletion) programs() string {
	const named = 3
	var names []string
	for _, o := range h.Holders() {
		name := "a program without a name"
		if o.App != "" {
			name = sanitize.Truncate(o.App, 60)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("%d more", more))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// nobody is the user of a session where there is no access control.
var nobody = sha256.Sum256(nil)

// EndCommands are the commands for mongosh that close the cursors which are known, each with where to run it.
func (h HeldDeletion) EndCommands() (out []EndCommand) {
	var ids, patterns, cursors []string
	for _, k := range h.Cursors {
		switch id := uuidText(k.Session.ID); {
		case id == "":
			cursors = append(cursors, fmt.Sprintf(`Long("%d")`, k.ID))
		case k.Session.User == "" || k.Session.User == string(nobody[:]):
			ids = append(ids, fmt.Sprintf(`{id: UUID("%s")}`, id))
		default:
			patterns = append(patterns, fmt.Sprintf(`{lsid: {id: UUID("%s"), uid: BinData(0, "%s")}}`, id,
				base64.StdEncoding.EncodeToString([]byte(k.Session.User))))
		}
	}
	list := func(items []string) string {
		slices.Sort(items)
		return "[" + strings.Join(slices.Compact(items), ", ") + "]"
	}
	if len(ids) > 0 {
		out = append(out, EndCommand{Text: "db.adminCommand({killSessions: " + list(ids) + "})"})
	}
	if len(patterns) > 0 {
		out = append(out, EndCommand{Text: "db.adminCommand({killAllSessionsByPattern: " + list(patterns) + "})"})
	}
	if len(cursors) > 0 {
		out = append(out, EndCommand{OnShard: true, Text: "db.getSiblingDB(" + sanitize.Quoted(h.NS.Database()) + ").runCommand({killCursors: " +
			sanitize.Quoted(h.NS.Collection()) + ", cursors: " + list(cursors) + "})"})
	}
	return out
}

// EndCommand is a command that closes cursors.
type EndCommand struct {
	Text    string
	OnShard bool // it runs on the shard's primary, not through a mongos
}

// Explanation says what the command does.
func (c EndCommand) Explanation() message.Message {
	switch {
	case c.OnShard:
		return message.New("held.cursors", "on the shard's primary: closes cursors without a session; their programs get an error")
	case strings.Contains(c.Text, "killSessions"):
		return message.New("held.sessions", "ends the sessions of these cursors; their programs get an error")
	}
	return message.New("held.patterns",
		"ends the sessions of these cursors; their programs get an error. Needs killAnySession on the cluster")
}

// uuidText is a UUID as people write it; "" for anything else.
func uuidText(id string) string {
	if len(id) != 16 {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// UnknownText says why it is not known whether cursors hold up deletions; empty when it is known.
func (d Deletions) UnknownText() message.Message {
	switch {
	case d.Reason == "":
		return message.Message{}
	case d.Privilege != "":
		return message.New("held.denied", "Whether open cursors hold up the deletion of old documents cannot be known without {privilege}.",
			message.Text("privilege", d.Privilege))
	}
	return message.New("held.unknown", "Whether open cursors hold up the deletion of old documents is not known: {reason}.",
		message.Words("reason", ReasonText(d.Reason)))
}
