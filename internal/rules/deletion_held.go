package rules

import (
	"time"

	"shardboard/internal/message"
)

// cursorsLong is the age from which a cursor that holds up a deletion is a problem: the server ends one that nobody
// uses after ten minutes.
const cursorsLong = 10 * time.Minute

// DeletionHeld finds old documents that cannot be deleted because of open cursors.
const DeletionHeld Rule = "deletion-held"

var deletionHeld = rule{id: DeletionHeld, name: "Deletion held up by cursors", find: findDeletionHeld,
	noPlaybook: "the problem names the programs and has the commands that end their cursors"}

func findDeletionHeld(ev *evaluation) {
	d := ev.Table.Deletions
	for _, held := range d.Held {
		h, long := held.OlderThan(ev.Now.Add(-cursorsLong))
		if !long {
			continue
		}
		p := Problem{
			Subject:  string(h.NS) + " " + h.Shard,
			NS:       h.NS,
			Shard:    h.Shard,
			Severity: Warn,
			Why: message.New("held.moves",
				"Until they are deleted they cost space, the range cannot move back, and the shard's next deletions of it wait."),
			Weight: ev.Now.Sub(h.Oldest()).Seconds(),
			Text:   h.Text(),
			Evidence: []Evidence{
				{Name: message.New("held.count", "Open cursors"), Unit: "count", Known: true, Value: float64(h.Count), Exact: true,
					Method: "currentOp", At: d.At},
				timeFrom(message.New("held.oldest", "The oldest was opened"), h.Oldest(), "currentOp", d.At),
				timeFrom(message.New("held.left", "The last range left"), h.Since, "migrationLog", d.At),
			},
			Remedy: Remedy{WhyNot: message.New("held.others", "shardboard ends no cursors of others. These are the commands.")},
		}
		if h.Unsure {
			p.Severity, p.Why = Info, message.New("held.unsure.why", "The changelog does not have the move that left them behind.")
		}
		for _, o := range h.Holders() {
			p.Evidence = append(p.Evidence, textFrom(message.New("held.program", "Cursors of {program}: {n}, oldest of {oldest}",
				message.Text("program", orUnnamed(o.App)), message.Count("n", o.Count), message.Time("oldest", o.Oldest)),
				message.Text("value", orUnnamed(o.Host)), "currentOp", d.At))
		}
		for _, c := range h.EndCommands() {
			p.Remedy.Commands = append(p.Remedy.Commands, Command{Text: c.Text, Explanation: c.Explanation()})
		}
		ev.add(p)
	}
	if d.Reason != "" {
		ev.cannot("", d.UnknownText())
	}
}

// orUnnamed is a name, or that there is none.
func orUnnamed(name string) string {
	if name == "" {
		return "not told"
	}
	return name
}
