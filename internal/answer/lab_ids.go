package answer

import (
	"fmt"
	"net/url"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/idplacement"
	"shardboard/internal/lab/picture"
	"shardboard/internal/sanitize"
)

// DefaultLabIDs are the inputs of which nothing is said.
func DefaultLabIDs() api.LabIDInputs {
	return api.LabIDInputs{Shards: 8, Machines: 4, Hours: 8, Each: 50, Seed: 1}
}

// LabIDs makes ids of each form and says which shards take them.
func LabIDs(in url.Values) (out api.LabIDs, err error) {
	i := DefaultLabIDs()
	for _, n := range []struct {
		name        string
		to          *int
		least, most int
	}{{"shards", &i.Shards, 1, 32}, {"machines", &i.Machines, 1, 12}, {"hours", &i.Hours, 1, 24}, {"each", &i.Each, 1, 60}} {
		if *n.to, err = number(in, n.name, n.least, n.most, *n.to); err != nil {
			return out, err
		}
	}
	if text := in.Get("seed"); text != "" {
		if i.Seed, err = strconv.ParseUint(text, 10, 63); err != nil {
			return out, fault.New(fault.Invalid, "seed must be a number from 0 to 9223372036854775807, not %q.", sanitize.Truncate(text, 40))
		}
	}
	out.Inputs, out.URL = i, labIDsURL(i)
	o := idplacement.Options{Shards: i.Shards, Machines: i.Machines, Windows: 6 * i.Hours, Each: i.Each, Seed: i.Seed}
	for _, form := range idplacement.Forms() {
		p := idplacement.Place(form, o)
		out.Items = append(out.Items, api.LabIDPlacement{Form: form, Text: labIDText(p, i.Shards), HotShare: p.BusiestShare,
			WindowShare: p.WindowShare, Windows: p.Windows})
	}
	return out, nil
}

func labIDsURL(i api.LabIDInputs) string {
	return fmt.Sprintf("/lab/ids?each=%d&hours=%d&machines=%d&seed=%d&shards=%d", i.Each, i.Hours, i.Machines, i.Seed, i.Shards)
}

// labIDText says in a sentence what the ids of a form do to inserts.
func labIDText(p idplacement.Placement, shards int) string {
	switch {
	case shards == 1:
		return "One shard takes every insert."
	case p.BusiestShare > 0.99:
		return "Every new id is greater than all before it: one shard takes every insert."
	case p.WindowShare > 0.6:
		return "Ids of ten minutes lie together: one shard takes the inserts of that time, then another."
	}
	return "Inserts spread over all shards, and ids of one time lie apart."
}

// LabIDsPicture draws the inserts of each shard for one form as SVG.
func LabIDsPicture(p api.LabIDPlacement) string {
	b := picture.Bars{Title: "Inserts of each shard, by ten minutes: " + p.Form, X: "ten minutes", Y: "inserts", Value: p.Windows}
	for w, counts := range p.Windows {
		b.Column = append(b.Column, fmt.Sprintf("ten minutes %d", w+1))
		for len(b.Series) < len(counts) {
			b.Series = append(b.Series, fmt.Sprintf("shard %d", len(b.Series)+1))
		}
	}
	return b.SVG()
}
