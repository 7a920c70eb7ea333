package rules

import (
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// MemberAway finds members of replica sets that mongos does not reach.
const MemberAway Rule = "member-away"

// memberAwayFor is how long a member may be away: a restart.
const memberAwayFor = 20 * time.Second

var memberAway = rule{id: MemberAway, name: "Member of a replica set not reached", find: findMemberAway, noPlaybook: aboutMachines}

func findMemberAway(ev *evaluation) {
	a := ev.Table.Answering
	if ev.Past || a.At.IsZero() {
		return
	}
	if a.SetsErr != nil {
		ev.cannot("", message.New("away.unread", "Which members mongos reaches is not known: {reason}",
			message.Words("reason", fault.Text(a.SetsErr))))
		return
	}
	for _, set := range a.Sets {
		if !set.HasPrimary() {
			continue // which is worse, and has the members in its evidence
		}
		for _, m := range set.Members {
			if m.Away.IsZero() || ev.Now.Sub(m.Away) < memberAwayFor {
				continue
			}
			ev.add(Problem{
				Subject: set.Name + " " + m.Address, Severity: Warn, Weight: ev.Now.Sub(m.Away).Seconds(),
				Text: message.New("away.member", "mongos has not reached {member} of {set} since {at}.",
					message.Text("member", m.Address), message.Text("set", set.Name), message.Time("at", m.Away)),
				Why: message.New("away.why",
					"One more that fails may leave the set without a primary, and writes with majority wait for fewer members."),
				Evidence: memberEvidence(set, a.At),
				Remedy:   lookAtMembers(),
			})
		}
	}
}
