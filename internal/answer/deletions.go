package answer

import (
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

// DeletionsHeld is what holds up deletions of old documents, of those that of takes, or a part of them. None is known
// of a past time.
func DeletionsHeld(v View, of func(topology.HeldDeletion) (topology.HeldDeletion, bool)) api.DeletionWait {
	out := api.DeletionWait{Held: []api.HeldDeletion{}}
	if v.Past != nil {
		return out
	}
	out.Unknown = v.Table.Deletions.UnknownText().String()
	for _, h := range v.Table.Deletions.Held {
		if taken, ok := of(h); ok {
			out.Held = append(out.Held, heldDeletionOf(taken))
		}
	}
	return out
}

func heldDeletionOf(h topology.HeldDeletion) api.HeldDeletion {
	out := api.HeldDeletion{NS: string(h.NS), Shard: h.Shard, Cursors: h.Count, Oldest: api.Time(h.Oldest()), Unsure: h.Unsure,
		Text:     api.Timeless(h.Text()),
		Commands: Map(h.EndCommands(), func(c topology.EndCommand) string { return c.Text }),
		Programs: Map(h.Holders(), func(o topology.CursorHolder) api.CursorHolder {
			return api.CursorHolder{Application: o.App, Host: o.Host, Cursors: o.Count, Oldest: api.Time(o.Oldest)}
		})}
	return out
}

// RunDeletions is what holds up the deletions that a run waits for; nil if it waits for none.
func RunDeletions(v View, r engine.Run) *api.DeletionWait {
	waits := r.AwaitedDeletions()
	out := DeletionsHeld(v, func(h topology.HeldDeletion) (topology.HeldDeletion, bool) {
		for _, w := range waits {
			switch {
			case w.Shard != h.Shard || w.NS != "" && w.NS != h.NS:
			case w.Moved.IsZero():
				return h, true
			default: // cursors that were opened later do not hold up what this run moved
				if older, ok := h.OlderThan(w.Moved); ok {
					return older, true
				}
			}
		}
		return h, false
	})
	if len(waits) == 0 || !r.State.Open() && len(out.Held) == 0 {
		return nil
	}
	return &out
}

// DeletionTexts say what holds up deletions, or why that is not known.
func DeletionTexts(w *api.DeletionWait) (out []string) {
	if w == nil {
		return nil
	}
	for _, h := range w.Held {
		out = append(out, h.Text.String())
	}
	if w.Unknown != "" {
		out = append(out, w.Unknown)
	}
	return out
}

// HolderText names a program with its cursors.
func HolderText(c api.CursorHolder) string {
	parts := []string{Counted(c.Cursors, "cursor", "cursors")}
	name := "A program without a name"
	if c.Application != "" {
		name = PersonText(c.Application)
	}
	if c.Host != "" {
		name += " on " + PersonText(c.Host)
	}
	if c.Oldest != nil {
		parts = append(parts, "the oldest of "+format.Clock(*c.Oldest))
	}
	return name + ": " + strings.Join(parts, ", ")
}
