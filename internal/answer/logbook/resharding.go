package logbook

import (
	"fmt"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

// ReshardingOf is how far a step's resharding is; nil if that was never read.
func ReshardingOf(r *operation.Resharding) *api.Resharding {
	if r == nil {
		return nil
	}
	out := &api.Resharding{ID: r.ID, Key: r.Key, State: r.State, Reason: r.Reason, At: api.Time(r.At), LeftSeconds: secondsLeft(r.Left()),
		Shards: answer.Map(r.Shards, func(s operation.ReshardingShard) api.ReshardingShard {
			return api.ReshardingShard{Shard: s.Shard, Donor: s.Donor, Recipient: s.Recipient, Documents: s.Documents,
				DocumentsEstimate: s.DocumentsEstimate, Bytes: s.Bytes, BytesEstimate: s.BytesEstimate, Fetched: s.Fetched, Applied: s.Applied,
				LeftSeconds: secondsLeft(s.Left)}
		})}
	out.Documents, out.DocumentsEstimate, out.Bytes, out.BytesEstimate = r.Copied()
	return out
}

func secondsLeft(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// reshardingOld is how old the progress of a resharding may be before its age is said.
// It is read at least every minute.
const reshardingOld = 2 * time.Minute

// ReshardingText says how far a resharding is, in one line.
func ReshardingText(r *api.Resharding, now time.Time) string {
	if r == nil {
		return ""
	}
	text := "State " + r.State
	switch {
	case r.Reason != "":
		text += "; what the shards have copied is not known (" + topology.ReasonText(r.Reason) + ")"
	case r.BytesEstimate > 0:
		text += "; copied " + CopiedText(r.Bytes, r.BytesEstimate, r.Documents, r.DocumentsEstimate)
	}
	if r.Reason == "" {
		text += "; time left: " + LeftText(r.LeftSeconds)
	}
	if r.At != nil && now.Sub(*r.At) > reshardingOld {
		text += "; read " + format.Clock(*r.At) + ", not readable since"
	}
	return text + "."
}

// CopiedText compares what was copied with the server's estimate, which it may exceed.
func CopiedText(bytes, bytesEstimate, documents, documentsEstimate int64) string {
	text := fmt.Sprintf("%s of about %s (%s of about %s documents)", format.Bytes(bytes), format.Bytes(bytesEstimate),
		format.Count(documents), format.Count(documentsEstimate))
	if bytes > bytesEstimate || documents > documentsEstimate {
		text += ", more than estimated"
	}
	return text
}

// LeftText is the time left by the server's estimate.
func LeftText(seconds *int64) string {
	if seconds == nil {
		return "not known to the server"
	}
	return "about " + format.Span(time.Duration(*seconds)*time.Second)
}
