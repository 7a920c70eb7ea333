package actions

import (
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// ApprovalRules say above which blast radius a plan needs the approval of somebody else. The zero
// value asks for none.
type ApprovalRules struct {
	Bytes  int64  // a plan that moves more needs it, and one of which that is not known; 0: no limit
	Chunks int64  // a plan that moves, splits or merges more needs it; 0: no limit
	Kinds  []Kind // always need it
}

// On reports whether any plan can need approval.
func (r ApprovalRules) On() bool { return r.Bytes > 0 || r.Chunks > 0 || len(r.Kinds) > 0 }

// Because lists why a change needs approval; empty when it needs none.
func (r ApprovalRules) Because(k Kind, d Draft) (out []message.Message) {
	for _, kind := range kindsOf(k, d) {
		if slices.Contains(r.Kinds, kind) {
			out = append(out, message.New("approval.kind", "Changes of the kind {kind} always need it.", message.Words("kind", string(kind))))
		}
	}
	switch most, known := mostOf(d.Effect.Bytes.Known, d.Effect.Bytes.Value, d.Effect.Bytes.PlusMinus); {
	case r.Bytes <= 0:
	case !known:
		out = append(out, message.New("approval.bytesUnknown",
			"How much data it moves is not known, and more than {limit} needs it.", message.Bytes("limit", r.Bytes)))
	case most > r.Bytes:
		out = append(out, message.New("approval.bytes",
			"It moves up to {bytes}, and more than {limit} needs it.", message.Bytes("bytes", most), message.Bytes("limit", r.Bytes)))
	}
	switch most, known := mostOf(d.Effect.Chunks.Known, d.Effect.Chunks.Value, d.Effect.Chunks.PlusMinus); {
	case r.Chunks <= 0:
	case !known:
		out = append(out, message.New("approval.chunksUnknown",
			"How many chunks it changes is not known, and more than {limit} need it.", message.Count("limit", r.Chunks)))
	case most > r.Chunks:
		out = append(out, message.New("approval.chunks",
			"Number of chunks that it changes: {chunks}. More than {limit} need it.",
			message.Count("chunks", most), message.Count("limit", r.Chunks)))
	}
	return out
}

// kindsOf lists the kind of a change and, of a batch, those of its items.
func kindsOf(k Kind, d Draft) []Kind {
	out := []Kind{k}
	for _, s := range d.Steps {
		if s.Item != nil && !slices.Contains(out, s.Item.Kind) {
			out = append(out, s.Item.Kind)
		}
	}
	return out
}

// mostOf is the upper end of a figure.
func mostOf(known bool, value, plusMinus int64) (int64, bool) { return value + plusMinus, known }

// Cap lowers the limits of a plan that needs no approval, so that its run cannot grow into one that
// would have needed it.
func (r ApprovalRules) Cap(l Limits) Limits {
	if r.Chunks > 0 && int64(l.Chunks) > r.Chunks {
		l.Chunks = int(r.Chunks)
	}
	if r.Bytes > 0 && l.Bytes.Known && l.Bytes.Value > r.Bytes {
		l.Bytes.Value = r.Bytes
	}
	return l
}

// ParseApprovalKinds reads the names of kinds that always need approval.
func ParseApprovalKinds(names []string) (out []Kind, err error) {
	for _, name := range names {
		k := Kind(strings.TrimSpace(name))
		if !k.Known() {
			var known []string
			for _, k := range Kinds() {
				known = append(known, string(k))
			}
			return nil, fault.New(fault.Invalid, "there is no kind of change %q. The kinds are %s.",
				sanitize.Line(sanitize.Truncate(name, 60)), strings.Join(known, ", "))
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}
