package actions

import (
	"shardboard/internal/actions/operation"
	"slices"
)

// Sends lists the kinds of change whose command the steps send, each once. A kind that is made of several
// commands, such as isolate, is in no list: its commands are. What a run turns on again that it has turned
// off itself does not count.
func (d Draft) Sends() []Kind {
	return kindsOf(d.Steps, func(s operation.Step) operation.Op { return s.Op })
}

// undoneBy lists the kinds of the commands that take steps back, for an undo that cannot be planned yet.
func undoneBy(done []operation.Step) []Kind {
	done = slices.DeleteFunc(slices.Clone(done), func(s operation.Step) bool { return s.Pauses })
	return kindsOf(done, func(s operation.Step) operation.Op {
		if inverse := s.Inverse(); inverse != "" {
			return inverse
		}
		return s.Op
	})
}

// kindsOf lists the kinds whose commands have the operations of steps.
func kindsOf(steps []operation.Step, op func(operation.Step) operation.Op) (out []Kind) {
	sent := map[operation.Op]bool{}
	for _, s := range steps {
		switch {
		case s.Restores:
		case s.Item != nil:
			out = append(out, s.Item.Sends...)
		default:
			sent[op(s)] = true
		}
	}
	for _, k := range Descriptions() {
		if slices.ContainsFunc(k.Sends, func(o operation.Op) bool { return sent[o] }) {
			out = append(out, k.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
