package data

import (
	"cmp"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
)

// CollectionSection is a table of the list of collections.
type CollectionSection int

const (
	SectionNone      CollectionSection = iota // in no table
	SectionSharded                            // sharded ones
	SectionInternal                           // the server's own that have chunks, where these are listed
	SectionUnsharded                          // those that are not sharded
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
	Text            string // the filter
	Searched        int    // collections without it
	All             int    // collections on all pages
	Sharded         int    // of these in each table
	Unsharded       int
}

// orderKey is the key of the kept order of the list of collections.
type orderKey struct{ internal bool }

// collectionOrder are places in everyCollection.
type collectionOrder struct {
	places             []int32
	sharded, unsharded int
}

// CollectionsPage lists table after table, in each the largest collections first: those whose name has a text, in upper
// or lower case.
func CollectionsPage(v answer.View, text string, page int) CollectionPage {
	out := CollectionPage{Collections: Collections(v, ""), Text: text}
	all := out.Items
	order := answer.OncePerTable(v, orderKey{v.Internal}, func() collectionOrder { return orderOf(all, v.Internal) })
	out.Searched = len(order.places)
	if text != "" {
		order = order.matching(all, v.Internal, text)
	}
	out.All, out.Sharded, out.Unsharded = len(order.places), order.sharded, order.unsharded
	shown, from, to := answer.PageOf(out.All, page)
	out.Page = shown
	out.Items = answer.Map(order.places[from:to], func(i int32) api.Collection { return all[i] })
	return out
}

// matching are the places whose names have a text.
func (o collectionOrder) matching(all []api.Collection, internal bool, text string) (out collectionOrder) {
	text = strings.ToLower(text)
	for _, i := range o.places {
		if strings.Contains(strings.ToLower(all[i].NS), text) {
			out.add(i, SectionOf(&all[i], internal))
		}
	}
	return out
}

func (o *collectionOrder) add(place int32, in CollectionSection) {
	switch in {
	case SectionNone:
		return
	case SectionSharded:
		o.sharded++
	case SectionUnsharded:
		o.unsharded++
	}
	o.places = append(o.places, place)
}

func orderOf(all []api.Collection, internal bool) (out collectionOrder) {
	sections := make([]CollectionSection, len(all))
	for i := range all {
		sections[i] = SectionOf(&all[i], internal)
		out.add(int32(i), sections[i])
	}
	slices.SortFunc(out.places, func(a, b int32) int { // of equal ones the order of names stays
		x, y := &all[a], &all[b]
		return cmp.Or(cmp.Compare(sections[a], sections[b]), answer.BySize(x.Bytes, y.Bytes), cmp.Compare(y.Chunks, x.Chunks), cmp.Compare(a, b))
	})
	return out
}
