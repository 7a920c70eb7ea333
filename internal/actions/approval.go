package actions

import (
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
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

// Because lists why a change needs approval; empty when it needs none. What counts is what is sent: a
// command of a listed kind needs it in every plan, and the name of the plan's own kind does only where the
// plan is no undo.
func (r ApprovalRules) Because(k Kind, undo bool, d Draft) (out []message.Message) {
	named := namesOf(k, undo, d)
	for _, kind := range r.Kinds {
		switch {
		case slices.Contains(named, kind):
			out = append(out, message.New("approval.kind", "Changes of the kind {kind} always need it.", message.Words("kind", string(kind))))
		case slices.Contains(d.Sends(), kind):
			out = append(out, message.New("approval.command", "It sends a command of the kind {kind}, and such changes always need it.",
				message.Words("kind", string(kind))))
		}
	}
	chunks, bytes := d.Effect.Whole()
	also := ""
	if d.Effect.ByBalancer != nil {
		also = " or makes the balancer move"
	}
	switch most, known := mostOf(bytes); {
	case r.Bytes <= 0:
	case !known:
		out = append(out, message.New("approval.bytesUnknown",
			"How much data it moves"+also+" is not known, and more than {limit} needs it.", message.Bytes("limit", r.Bytes)))
	case most > r.Bytes:
		out = append(out, message.New("approval.bytes",
			"It moves"+also+" up to {bytes}, and more than {limit} needs it.", message.Bytes("bytes", most), message.Bytes("limit", r.Bytes)))
	}
	switch most, known := mostOf(chunks); {
	case r.Chunks <= 0:
	case !known:
		out = append(out, message.New("approval.chunksUnknown",
			"How many chunks it changes"+also+" is not known, and more than {limit} need it.", message.Count("limit", r.Chunks)))
	case most > r.Chunks:
		out = append(out, message.New("approval.chunks",
			"Number of chunks that it changes"+also+": {chunks}. More than {limit} need it.",
			message.Count("chunks", most), message.Count("limit", r.Chunks)))
	}
	return out
}

// namesOf lists the kind of a plan and, of a batch, those of its items, without undos.
func namesOf(k Kind, undo bool, d Draft) (out []Kind) {
	if !undo {
		out = append(out, k)
	}
	for _, s := range d.Steps {
		if s.Item != nil && s.Item.UndoOf == "" {
			out = append(out, s.Item.Kind)
		}
	}
	return out
}

// mostOf is the upper end of a figure.
func mostOf(f topology.Figure) (int64, bool) { return f.Value + f.PlusMinus, f.Known }

// Cap lowers the limits of a plan that needs no approval, so that its run cannot grow into one that
// would have needed it.
func (r ApprovalRules) Cap(l operation.Limits) operation.Limits {
	if r.Chunks > 0 && int64(l.Chunks) > r.Chunks {
		l.Chunks = int(r.Chunks)
	}
	if r.Bytes > 0 && l.Bytes.Known && l.Bytes.Value > r.Bytes {
		l.Bytes.Value = r.Bytes
	}
	return l
}

// Hold returns a draft whose run stays what it is, though the cluster changes: it sends no command of a kind
// that needs approval but those that the draft sends, and, unless an approval covers it, changes no more
// than needs none. The same holds for each item of a batch.
func (r ApprovalRules) Hold(d Draft, covered bool) Draft {
	d.Limits = r.hold(d.Limits, d.Sends(), covered)
	d.Steps = slices.Clone(d.Steps)
	for i, s := range d.Steps {
		if s.Item != nil {
			item := *s.Item
			item.Limits = r.hold(item.Limits, item.Sends, covered)
			d.Steps[i].Item = &item
		}
	}
	return d
}

func (r ApprovalRules) hold(l operation.Limits, sends []Kind, covered bool) operation.Limits {
	l.Without = nil
	for _, k := range r.Kinds {
		if !slices.Contains(sends, k) {
			l.Without = append(l.Without, k)
		}
	}
	if covered {
		return l
	}
	return r.Cap(l)
}

// ParseApprovalKinds reads the names of kinds that always need approval.
func ParseApprovalKinds(names []string) (out []Kind, err error) {
	for _, name := range names {
		k := Kind(strings.TrimSpace(name))
		if !Known(k) {
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
