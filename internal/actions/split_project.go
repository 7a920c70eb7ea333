package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// SplitProject cuts the chunks that hold a project, in one collection or in all
// whose key begins with it: between projects where the key is the project alone,
// inside the project where the key goes on.
const SplitProject Kind = "split-project"

func describeSplitProject() Description {
	return Description{
		Kind:      SplitProject,
		Title:     "Split a project’s chunks",
		Lead:      "Cuts at the project’s edges, or inside it where the shard key goes on. No data moves.",
		Proof:     "A chunk begins at each new bound.",
		Undo:      "Merging the parts.",
		Arguments: []Argument{argProject.needed(), argDB, argNS.of(TypeNamespace).help("Only this collection, as database.collection.")},
		Adapts:    true,
		plan:      planSplitProject,
	}
}

func planSplitProject(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	p, err := d.s.project(SplitProject, &d.a)
	if err != nil {
		return Draft{}, a, err
	}
	parts := d.heldBy(p)
	if a.NS != "" {
		if parts, err = d.heldIn(parts, a.NS); err != nil {
			return Draft{}, a, err
		}
	}
	if len(parts) == 0 {
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.nowhere",
			"No sharded collection has a key that begins with the project: no chunk of {project} can be split.",
			message.Project("project", p.ID.Hex(), p.Name)))
	}
	cut := 0
	for _, h := range parts {
		before := len(d.steps)
		if h.c.Key.Len() == 1 {
			d.cutOut(d.future(h.c), h.lo, h.hi)
		} else {
			d.cutInside(h)
		}
		if len(d.steps) > before {
			cut++
			continue
		}
		d.stays = append(d.stays, message.New("oneValue",
			"{ns} is not split: the project is one value of {key} there and already has its own chunks. {remedy}.",
			message.Namespace("ns", h.c.NS), message.Text("key", h.c.Key.String()),
			message.Words("remedy", d.remedy())))
	}
	switch {
	case cut > 0:
		d.pass("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.cuts",
			"Chunks can be split in {collections} collections.", message.Count("collections", cut)))
	case len(parts) > 0:
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.oneProject",
			"The chunk holds only the project {project}, which is one value of {key}, and a chunk cannot be "+
				"split inside a value: {remedy}.",
			message.Project("project", p.ID.Hex(), ""), message.Text("key", parts[0].c.Key.String()),
			message.Words("remedy", d.remedy())))
	}
	return d.finish(message.New("split-project",
		"Split the chunks that hold the project {project} ({id}): {cuts} splits.",
		message.Project("project", p.ID.Hex(), p.Name), message.Key("id", p.ID.Hex()),
		message.Count("cuts", d.cuts)),
		Undo{Possible: true, Text: message.New("cuts",
			"The chunks are merged again ({cuts} splits).", message.Count("cuts", d.cuts))})
}

// heldIn is the one of the project's collections that ns names.
func (d *draftBuilder) heldIn(all []held, ns topology.Namespace) ([]held, error) {
	for _, h := range all {
		if h.c.NS == ns {
			d.stays = nil
			return []held{h}, nil
		}
	}
	if _, err := collectionOf(d.s.Table, d.kind, ns); err != nil {
		return nil, err
	}
	return nil, fault.New(
		fault.Invalid,
		"The argument \"ns\" names %q, whose shard key does not begin with the project: its rows are not together in chunks of their own.",
		string(ns),
	)
}

// cutOut gives a range chunks of its own: a cut at each end that is inside one.
func (d *draftBuilder) cutOut(k *futureChunks, lo, hi shardkey.Key) {
	d.splitAt(k, lo)
	if hi.Compare(k.c.Key.Max()) < 0 {
		d.splitAt(k, hi)
	}
}

// cutInside halves what each chunk has of a project: at the middle of the
// hashes, else where the server finds the median of its documents.
func (d *draftBuilder) cutInside(h held) {
	k := d.future(h.c)
	if hashedLast(h.c.Key) {
		for _, p := range k.within(h.lo, h.hi) {
			in := shardkey.Range{Min: later(p.Min, h.lo), Max: earlier(p.Max, h.hi)}
			points, _ := d.hashMiddle(h.c, in)
			for _, at := range points {
				d.splitAt(k, at)
			}
		}
		return
	}
	d.cutOut(k, h.lo, h.hi)
	for _, p := range k.within(h.lo, h.hi) {
		d.splitMedian(k, p)
	}
}

func (d *draftBuilder) hashMiddle(c *topology.Collection, r shardkey.Range) ([]shardkey.Key, message.Message) {
	prefix, lo, hi, ok := hashSpan(c.Key, r)
	if !ok {
		return nil, message.New("parts.unknown",
			"The key space of {key} cannot be divided into equal parts, because its values are not known. Split "+
				"at the median, or at a key.",
			message.Text("key", c.Key.String()))
	}
	return hashPoints(c.Key, prefix, lo, hi, 2)
}
