package data

import (
	"cmp"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
)

// CollectionSection is a table of the list of collections.
type CollectionSection int

const (
	SectionNone      CollectionSection = iota
	SectionSharded                     // sharded ones
	SectionInternal                    // the server's own that have chunks, where these are listed
	SectionUnsharded                   // those that are not sharded
)

// SectionOf tells in which table a collection is listed; internal lists the server's own too.
func SectionOf(c *api.Collection, internal bool) CollectionSection {
	switch {
	case c.System && !internal:
		return SectionNone
	case c.System && c.Key != nil:
		return SectionInternal
	case c.Sharded && !c.System:
		return SectionSharded
	case !c.Sharded:
		return SectionUnsharded
	}
	return SectionNone
}

// CollectionPage is a page of the list of collections.
type CollectionPage struct {
	api.Collections // those of the page; figures are of all
	Page            int
	All             int // collections on all pages
	Sharded         int // of these in each table
	Unsharded       int
}

// orderKey is the key of the kept order of the list of collections.
type orderKey struct{ internal bool }

// collectionOrder are places in everyCollection.
type collectionOrder struct {
	places             []int32
	sharded, unsharded int
}

// CollectionsPage lists table after table, in each the largest collections first.
func CollectionsPage(v answer.View, page int) CollectionPage {
	out := CollectionPage{Collections: Collections(v, "")}
	all := out.Items
	order := answer.OncePerTable(v, orderKey{v.Internal}, func() collectionOrder { return orderOf(all, v.Internal) })
	out.All, out.Sharded, out.Unsharded = len(order.places), order.sharded, order.unsharded
	shown, from, to := answer.PageOf(out.All, page)
	out.Page = shown
	out.Items = answer.Map(order.places[from:to], func(i int32) api.Collection { return all[i] })
	return out
}

func orderOf(all []api.Collection, internal bool) (out collectionOrder) {
	sections := make([]CollectionSection, len(all))
	for i := range all {
		switch sections[i] = SectionOf(&all[i], internal); sections[i] {
		case SectionNone:
			continue
		case SectionSharded:
			out.sharded++
		case SectionUnsharded:
			out.unsharded++
		}
		out.places = append(out.places, int32(i))
	}
	slices.SortFunc(out.places, func(a, b int32) int { // of equal ones the order of names stays
		x, y := &all[a], &all[b]
		return cmp.Or(cmp.Compare(sections[a], sections[b]), answer.BySize(x.Bytes, y.Bytes), cmp.Compare(y.Chunks, x.Chunks), cmp.Compare(a, b))
	})
	return out
}
