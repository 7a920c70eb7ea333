package webtest

import (
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/message"
)

// CannedApprovals are approvals of the plan "move" of CannedActions in a state.
func CannedApprovals(v answer.View, state engine.ApprovalState) map[string]engine.Approval {
	a := engine.Approval{Needed: true, State: state, Expires: v.Now.Add(13 * time.Minute), Because: []message.Message{
		message.New("approval.bytes", "It moves up to {bytes}, and more than {limit} needs it.", message.Bytes("bytes", 747<<20),
			message.Bytes("limit", 500<<20)),
		message.New("approval.kind", "Changes of the kind {kind} always need it.", message.Words("kind", "move")),
	}}
	if state != engine.ApprovalAsked {
		a.By, a.ByName, a.At, a.Expires = Anna.ID, Anna.Name, v.Now.Add(-5*time.Minute), v.Now.Add(55*time.Minute)
	}
	if state == engine.ApprovalVoid {
		a.Void = message.New("approval.refused", "{by} refused it: {reason}", message.Text("by", Anna.Name),
			message.Text("reason", "the release is today"))
	}
	return map[string]engine.Approval{RecordID("move"): a}
}
