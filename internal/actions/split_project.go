package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// SplitProject splits the chunks of a project, in one collection or in all whose shard
// key begins with the project. If the project is the whole key, it splits between
// projects; if the key has more fields, it splits inside the project.
const SplitProject Kind = "split-project"

func describeSplitProject() Description {
	return Description{
		Kind:      SplitProject,
		AnyTime:   true,
		Title:     "Split a project’s chunks",
		Lead:      "Splits at the ends of the project’s range, or inside it if the shard key has more fields. No data moves.",
		Proof:     "A chunk begins at each new bound.",
		Undo:      "Merges the parts.",
		Arguments: []Argument{argProject.needed(), argDB, argNS.of(TypeNamespace).help("Only this collection, as database.collection.")},
		Adapts:    true,
		InBatches: true,
		plan:      planSplitProject,
	}
}

func planSplitProject(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	p, err := d.s.project(&d.a)
	if err != nil {
		return Draft{}, a, err
	}
	ranges := d.projectRanges(p)
	if a.NS != "" {
		if ranges, err = d.onlyRangeIn(ranges, a.NS); err != nil {
			return Draft{}, a, err
		}
	}
	if len(ranges) == 0 {
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.nowhere",
			"No sharded collection has a shard key that begins with the project, so no chunk of {project} can be split.",
			projectFact(p)))
	}
	cut := 0
	for _, r := range ranges {
		before := len(d.steps)
		if r.c.Key.Len() == 1 {
			d.splitAtEnds(d.future(r.c), r.lo, r.hi)
		} else {
			d.splitInside(r)
		}
		if len(d.steps) > before {
			cut++
			continue
		}
		d.stays = append(d.stays, message.New("oneValue",
			"{ns} is not split: the project is one value of {key} there, and already has its own chunk. To divide it: {remedy}.",
			message.Namespace("ns", r.c.NS), message.Text("key", r.c.Key.String()),
			message.Words("remedy", d.remedy())))
	}
	switch {
	case cut > 0:
		d.pass("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.cuts",
			message.Plural(cut, "Chunks can be split in 1 collection.", "Chunks can be split in {collections} collections."),
			message.Count("collections", cut)))
	case len(ranges) > 0:
		d.block("unsplittable", d.fromTable(topology.PartRouting), d.oneProjectText(ranges[0].c, p.IDValue()))
	}
	return d.finish(message.New("split-project",
		"Split the chunks of the project {project} ({id}): "+message.Plural(d.cuts, "1 split.", "{cuts} splits."),
		projectFact(p), message.Key("id", p.IDText()),
		message.Count("cuts", d.cuts)),
		Undo{Possible: true, Text: message.New("cuts",
			message.Plural(d.cuts, "Merges the chunks again (1 split).", "Merges the chunks again ({cuts} splits)."),
			message.Count("cuts", d.cuts))})
}

// onlyRangeIn returns the project's range in the collection that ns names.
func (d *draftBuilder) onlyRangeIn(all []projectRange, ns topology.Namespace) ([]projectRange, error) {
	for _, r := range all {
		if r.c.NS == ns {
			d.stays = nil
			return []projectRange{r}, nil
		}
	}
	if _, err := collectionOf(d.s.Table, d.description.Kind, ns); err != nil {
		return nil, err
	}
	return nil, fault.New(fault.Invalid, "The argument \"ns\" names %q, "+d.s.Profile.Format(
		"whose shard key does not begin with the project: it has no chunks of its own there."), string(ns))
}

// splitAtEnds splits at the ends of a range, so that chunks begin and end there.
func (d *draftBuilder) splitAtEnds(k *futureChunks, lo, hi shardkey.Key) {
	d.splitAt(k, lo)
	if hi.Compare(k.c.Key.Max()) < 0 {
		d.splitAt(k, hi)
	}
}

// splitInside splits the project's part of each chunk into halves: in the middle of the
// hashes, or else at the median of the documents, which the server finds.
func (d *draftBuilder) splitInside(r projectRange) {
	k := d.future(r.c)
	if hashedLast(r.c.Key) {
		for _, p := range k.within(r.lo, r.hi) {
			in := shardkey.Range{Min: shardkey.Later(p.Min, r.lo), Max: shardkey.Earlier(p.Max, r.hi)}
			if prefix, lo, hi, ok := hashSpan(r.c.Key, in); ok {
				points, _ := hashPoints(r.c.Key, prefix, lo, hi, 2)
				for _, at := range points {
					d.splitAt(k, at)
				}
			}
		}
		return
	}
	d.splitAtEnds(k, r.lo, r.hi)
	for _, p := range k.within(r.lo, r.hi) {
		d.splitMedian(k, p)
	}
}
