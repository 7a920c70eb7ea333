package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// leftOut is an item that is not planned because a check blocks it.
type leftOut struct {
	item int // its number in the request
	why  message.Message
}

// leaveOut plans an item by itself, with all checks, and reports whether it has to be left out: a check
// blocks it, or the cluster does not have what it names. Mistakes in the request are left to the caller.
func (b *batchBuilder) leaveOut(item int, about Description, a Args) bool {
	out, _, err := newDraft(b.d.s, about, a).draft()
	switch kind := fault.Of(err); {
	case err != nil && (kind == fault.NotFound || kind == fault.Conflict):
		b.left = append(b.left, leftOut{item, message.New("leftOut.error", "{why}", message.Server("why", fault.Text(err)))})
		return true
	case err != nil:
		return false
	}
	for _, c := range out.Checks {
		if c.Verdict == Block {
			b.left = append(b.left, leftOut{item, c.Text})
			return true
		}
	}
	return false
}

// overlaps reports whether an item moves a range that an item before it moves.
func (b *batchBuilder) overlaps(sub *draftBuilder) bool {
	for _, m := range sub.moves {
		for _, o := range b.d.moves {
			if o.k.c.NS == m.k.c.NS && m.lo.Compare(o.hi) < 0 && o.lo.Compare(m.hi) < 0 {
				return true
			}
		}
	}
	return false
}

// listLeftOut lists the items that are left out: the first with their reasons, the rest by number.
func (b *batchBuilder) listLeftOut() {
	source := b.d.fromTable(topology.PartRouting)
	rest := ""
	for i, l := range b.left {
		if i < itemsNamed {
			b.d.warn("leftOut", source, message.New("leftOut", "Item {item} of the request is left out: "+l.why.Pattern,
				append([]message.Fact{message.Count("item", l.item)}, l.why.Facts...)...))
			continue
		}
		if rest != "" {
			rest += ", "
		}
		rest += format.Count(int64(l.item))
	}
	if more := len(b.left) - itemsNamed; more > 0 {
		b.d.warn("leftOut", source, message.New("leftOut.more", message.Plural(more, "{n} more item of the request is left out: {items}.",
			"{n} more items of the request are left out: {items}."), message.Count("n", more), message.Words("items", rest)))
	}
}
