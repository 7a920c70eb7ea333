package actions

import (
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// Text describes the step in one line.
func (s Step) Text() message.Message {
	if s.Item != nil {
		return s.Item.Summary
	}
	ns := s.NS
	if ns == "" && len(s.Proof) > 0 {
		ns = s.Proof[0].NS // an await has no collection of its own
	}
	out := message.New("op."+string(s.Op), s.pattern(), message.Namespace("ns", ns), message.Key("at", shardkey.PlainValues(s.At)),
		message.Key("min", shardkey.PlainValues(s.Min)), message.Key("max", shardkey.PlainValues(s.Max)), message.Shard("shard", s.Shard),
		message.Zone("zone", s.Zone), message.Text("start", s.Start), message.Text("stop", s.Stop), message.Text("days", s.Days),
		message.Text("db", s.DB), message.Text("key", s.newKey()), message.Bytes("size", int64(s.Size)<<20))
	if len(s.Others) > 0 {
		out = out.With(message.Text("others", list(s.Others)))
		out.Code, out.Pattern = out.Code+".or", out.Pattern+", or, if that is blocked, to {others}"
	}
	return out
}

func (s Step) pattern() string {
	switch s.Op {
	case OpSplitAt:
		return "Split {ns} at {at}"
	case OpSplitMedian:
		return "Split {min} → {max} of {ns} in the middle"
	case OpMerge:
		return "Merge {min} → {max} of {ns}"
	case OpMove, OpMoveRange:
		return "Move {min} → {max} of {ns} to {shard}"
	case OpClearJumbo:
		return "Clear the jumbo flag of {min} → {max} of {ns}"
	case OpRefineKey:
		return "Refine the shard key of {ns} to {key}"
	case OpAddZone:
		return "Add {shard} to the zone {zone}"
	case OpRemoveZone:
		return "Remove {shard} from the zone {zone}"
	case OpSetRange:
		return "Assign {min} → {max} of {ns} to the zone {zone}"
	case OpRemoveRange:
		return "Remove {min} → {max} of {ns} from its zone"
	case OpBalancerOn:
		if s.Restores {
			return "Turn the balancer on again"
		}
		return "Turn the balancer on"
	case OpBalancerOff:
		if s.Pauses {
			return "Pause the balancer"
		}
		return "Turn the balancer off"
	case OpBalancerWindow:
		switch {
		case s.Days != "":
			return "Let the balancer run on {days}"
		case s.Start == "":
			return "Let the balancer run at any time"
		}
		return "Let the balancer run from {start} to {stop}"
	case OpBalancing:
		switch {
		case s.Pauses:
			return "Pause balancing of {ns}"
		case s.Restores:
			return "Resume balancing of {ns}"
		case s.On:
			return "Turn on balancing of {ns}"
		}
		return "Turn off balancing of {ns}"
	case OpMovePrimary:
		return "Make {shard} the primary shard of {db}"
	case OpMoveCollection:
		return "Move {ns} to {shard}"
	case OpUnshard:
		if s.Shard == "" {
			return "Unshard {ns}, on the shard that the server chooses"
		}
		return "Unshard {ns}, on {shard}"
	case OpAbortMove:
		return "Abort the move of {ns}"
	case OpAbortUnshard:
		return "Abort the unsharding of {ns}"
	case OpBeginRemoval, OpStartDraining:
		return "Begin to drain {shard}"
	case OpStopDraining:
		return "End the draining of {shard}"
	case OpRemoveShard:
		return "Remove {shard} from the cluster"
	case OpMigrations, OpChunkSize, OpAutoMerge, OpDefragment:
		return s.settingPattern()
	case OpReshard:
		return "Reshard {ns} to {key}"
	case OpReshardCommit:
		return "Commit the resharding of {ns}"
	case OpReshardAbort:
		return "Abort the resharding of {ns}"
	case OpAwait:
		if s.AwaitsDrain() {
			return "Wait until nothing is left on {shard}; sends no command"
		}
		return "Wait for the balancer to move the chunks of {ns}; sends no command"
	}
	return string(s.Op)
}
