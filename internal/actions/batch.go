package actions

import (
	"slices"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Batch runs many changes as one plan: a canary first, then groups.
const Batch Kind = "batch"

// MostItems is how many items a batch may have.
const MostItems = 1000

// defaultGroup is how many items a group has unless the plan says otherwise.
const defaultGroup = 10

// The kinds that the argument each offers for projects and for chunks.
var (
	eachProject = []Kind{Pin, Unpin, Spread, SplitProject}
	eachChunk   = []Kind{MoveChunk, Split, ClearJumbo}
)

func describeBatch() Description {
	return Description{
		Kind:  Batch,
		Title: "Run many changes",
		Lead: "Runs up to 1,000 changes as one plan: one as the canary, then groups, with a look at the cluster's health after each. " +
			"It can be paused, resumed, stopped and undone.",
		Proof: "Each item is proven like a change of its own.",
		Undo:  "Undoes the items, the last group first.",
		Arguments: []Argument{argPlans.or(argProjects.Name, argChunks.Name), argProjects.or(argPlans.Name, argChunks.Name), argEach,
			argChunks.help("References of up to 1,000 chunks of the collection. In text, separate them by spaces or commas.").
				or(argPlans.Name, argProjects.Name),
			argNS.entered().help("The collection of the chunks."), argTo.help("The shard to move to, for each project or chunk."),
			argShard.help("The shard to pin to, for each project."),
			argDB, argMode.withoutDefault(), argParts, argForce, argExpires, argOwner, argPause,
			argCanary, argGroup, argPerShard, argChunksPerHour, argBytesPerHour, argLeaveOut},
		rewrite: rewriteBatch,
		plan:    planBatch,
	}
}

// rewriteBatch replaces projects or chunks with one kind by a list of plans.
func rewriteBatch(a *Args) error {
	given := 0
	for _, n := range []int{len(a.Plans), len(a.Projects), len(a.Chunks)} {
		if n > 0 {
			given++
		}
	}
	switch {
	case given == 0:
		return missing(Batch, "plans",
			"the changes as a list of kind and args, or \"projects\" or \"chunks\" with the kind of change in \"each\"")
	case given > 1:
		return fault.New(fault.Invalid, "Give the items of a batch once: as \"plans\", as \"projects\" or as \"chunks\".")
	}
	shared := *a
	rest := Args{Plans: a.Plans, Canary: a.Canary, PerShard: a.PerShard, Group: a.Group, ChunksPerHour: a.ChunksPerHour,
		BytesPerHour: a.BytesPerHour, LeaveOut: a.LeaveOut}
	shared.Plans, shared.Projects, shared.Chunks, shared.Each = nil, nil, nil, ""
	shared.Canary, shared.PerShard, shared.Group, shared.ChunksPerHour, shared.BytesPerHour = nil, 0, 0, 0, 0
	shared.LeaveOut = false
	if len(a.Plans) > 0 {
		for _, x := range Arguments() {
			if x.Given(shared) || x.Name == argEach.Name && a.Each != "" {
				return fault.New(fault.Invalid,
					"The argument %q does not go together with \"plans\": give it in the args of each item.", x.Name)
			}
		}
		return nil
	}
	name, of, kinds := "projects", a.Projects, eachProject
	if len(a.Chunks) > 0 {
		name, of, kinds = "chunks", a.Chunks, eachChunk
	}
	if len(of) > MostItems {
		return tooManyItems(name, len(of))
	}
	switch {
	case a.Each == "":
		return missing(Batch, "each", "the kind of change for each of the "+name+": "+operation.Joined(kinds))
	case !slices.Contains(kinds, Kind(a.Each)):
		return fault.New(fault.Invalid, "The argument \"each\" is %q; for %s it must be one of %s. Give others as \"plans\".",
			sanitize.Truncate(a.Each, 60), name, operation.Joined(kinds))
	}
	for _, text := range of {
		item := shared
		if name == "projects" {
			item.Project = text
		} else {
			item.Chunk = text
		}
		rest.Plans = append(rest.Plans, PlannedChange{Kind: Kind(a.Each), Args: item})
	}
	*a = rest
	return nil
}

func tooManyItems(name string, n int) error {
	return fault.New(fault.Invalid, "The argument %q has %d items; one batch has %d at most. Make several batches.", name, n, MostItems)
}

// planBatch plans each item by itself, from the same situation.
func planBatch(d *draftBuilder) (Draft, Args, error) {
	if len(d.a.Plans) > MostItems {
		return Draft{}, d.a, tooManyItems("plans", len(d.a.Plans))
	}
	b := batchBuilder{d: d, stays: map[string]bool{}}
	a := d.a
	a.Plans, a.LeaveOut = nil, false
	for i, p := range d.a.Plans {
		_, err := KindNamed(string(p.Kind))
		about := Describe(p.Kind)
		switch {
		case err != nil:
			return Draft{}, d.a, itemError(i+1, err)
		case p.Kind == Batch:
			return Draft{}, d.a, itemError(i+1, fault.New(fault.Invalid, "A batch cannot contain a batch."))
		case !about.InBatches:
			return Draft{}, d.a, itemError(i+1, fault.New(fault.Invalid,
				"Changes of the kind %q are not run in batches. Plan this one by itself.", p.Kind))
		}
		if d.a.LeaveOut && b.leaveOut(i+1, about, p.Args) {
			continue
		}
		// The checks that all plans have are made for the whole batch.
		sub := newDraft(d.s, about, p.Args)
		sub.inBatch = true
		out, resolved, err := sub.draft()
		if err != nil {
			return Draft{}, d.a, itemError(i+1, err)
		}
		if d.a.LeaveOut && b.overlaps(sub) {
			b.left = append(b.left, leftOut{i + 1, message.New("leftOut.overlap", "it moves a range that an earlier item moves.")})
			continue
		}
		if p.Args.Chunk == "" && p.Args.Bounds[0] == nil && p.Args.Bounds[1] == nil {
			// The item named no chunk, and an earlier item may change the one that it is about.
			resolved.Bounds = p.Args.Bounds
		}
		a.Plans = append(a.Plans, PlannedChange{Kind: p.Kind, Args: resolved})
		if _, err := b.add(sub, out, p.Kind, resolved); err != nil {
			return Draft{}, d.a, err
		}
	}
	if len(a.Plans) == 0 {
		return Draft{}, d.a, fault.New(fault.Conflict, "A check blocks every item. Item %d: %s", b.left[0].item, b.left[0].why.String())
	}
	b.listLeftOut()
	if first, second, ok := sameItems(a.Plans); ok {
		return Draft{}, d.a, fault.New(fault.Invalid, "Items %d and %d are the same change. Give it once.", first, second)
	}
	b.checkOverlap()
	out, err := b.finish(a, Undo{Text: message.New("batch",
		"Undoes the items that were run, the last group first. It can be planned at any time after the batch has ended or was stopped."),
		Possible: b.undoable > 0})
	return out, a, err
}

// sameItems finds two items with the same kind and arguments.
func sameItems(plans []PlannedChange) (first, second int, ok bool) {
	seen := map[string]int{}
	for i, p := range plans {
		id := string(p.Kind) + " " + string(p.Args.JSON())
		if n := seen[id]; n > 0 {
			return n, i + 1, true
		}
		seen[id] = i + 1
	}
	return 0, 0, false
}

// batchBuilder puts the drafts of items together.
type batchBuilder struct {
	byBalancer []*BalancerEffect // of the items
	d          *draftBuilder
	items      []*operation.Item
	own        map[string]*mergedCheck // the items' own checks, by id and verdict
	order      []string
	kinds      []Kind
	risk       Risk
	moves      []int // for each move of d, the index of its item
	undoable   int
	undoFrom   time.Time
	left       []leftOut // items that a check blocks
	stays      map[string]bool
}

// mergedCheck is a check of several items.
type mergedCheck struct {
	Check
	items []int
}

// add adds an item, drafted by sub.
func (b *batchBuilder) add(sub *draftBuilder, out Draft, kind Kind, a Args) (*operation.Item, error) {
	d := b.d
	item, err := itemOf(len(b.items)+1, kind, a, out)
	if err != nil {
		return nil, err
	}
	b.items, b.kinds = append(b.items, item), append(b.kinds, kind)
	for _, c := range out.Checks {
		b.merge(item.Number, c)
	}
	for _, k := range sub.changedCollections() {
		whole := d.future(k.c)
		for shard, n := range k.delta {
			whole.delta[shard] += n
		}
		for i := range sub.moves {
			if sub.moves[i].k == k {
				m := sub.moves[i]
				m.k = whole
				d.moves, b.moves = append(d.moves, m), append(b.moves, len(b.items)-1)
			}
		}
	}
	d.cuts += sub.cuts
	if x := out.Effect.ByBalancer; x != nil {
		b.byBalancer = append(b.byBalancer, x)
	}
	for _, x := range sub.stays { // the same holds for many items
		if text := x.String(); !b.stays[text] {
			b.stays[text] = true
			d.stays = append(d.stays, x)
		}
	}
	d.receivers = append(d.receivers, sub.receivers...)
	d.needs.add(Needs{Flags: out.Needs.Flags, Writes: out.Needs.Writes})
	if out.Undo.Possible {
		b.undoable++
	}
	if out.Undo.From.After(b.undoFrom) {
		b.undoFrom = out.Undo.From
	}
	if out.Risk == High && len(sub.moves) == 0 || b.risk == "" || b.risk == Low && out.Risk == Medium {
		b.risk = out.Risk
	}
	return item, nil
}

// merge adds a check of an item. Checks with the same result are listed once.
func (b *batchBuilder) merge(number int, c Check) {
	if b.own == nil {
		b.own = map[string]*mergedCheck{}
	}
	id := c.ID + " " + string(c.Verdict)
	if c.Verdict != Pass {
		id += " " + c.Text.Code
	}
	if b.own[id] == nil {
		b.own[id] = &mergedCheck{Check: c}
		b.order = append(b.order, id)
	}
	b.own[id].items = append(b.own[id].items, number)
}

// itemsNamed is how many items a check names.
const itemsNamed = 10

// checks are those of all items: the same check of several items is one, which names them.
func (b *batchBuilder) checks() (out []Check) {
	for _, id := range b.order {
		m := b.own[id]
		c := m.Check
		names := ""
		for i, n := range m.items[:min(len(m.items), itemsNamed)] {
			if i > 0 {
				names += ", "
			}
			names += format.Count(int64(n))
		}
		if more := len(m.items) - itemsNamed; more > 0 {
			names += " and " + format.Count(int64(more)) + " more"
		}
		c.Text = message.New(c.Text.Code, message.Plural(len(m.items), "Item {items}: ", "Items {items}, the first: ")+c.Text.Pattern,
			c.Text.Facts...).With(message.Words("items", names))
		out = append(out, c)
	}
	return out
}

// checkOverlap blocks a batch in which two items move the same range: the second would find
// it elsewhere.
func (b *batchBuilder) checkOverlap() {
	d := b.d
	order := make([]int, len(d.moves))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if x := natural.Compare(d.moves[i].k.c.NS, d.moves[j].k.c.NS); x != 0 {
			return x
		}
		return d.moves[i].lo.Compare(d.moves[j].lo)
	})
	for n := 1; n < len(order); n++ {
		x, y := order[n-1], order[n]
		if d.moves[x].k == d.moves[y].k && b.moves[x] != b.moves[y] && d.moves[x].hi.Compare(d.moves[y].lo) > 0 {
			d.block("overlap", d.fromTable(topology.PartRouting), message.New("batch.overlap",
				"Items {first} and {second} move the same range of {ns}. Take one of them out.",
				message.Count("first", min(b.moves[x], b.moves[y])+1), message.Count("second", max(b.moves[x], b.moves[y])+1),
				message.Namespace("ns", d.moves[x].k.c.NS)))
			return
		}
	}
}

// finish makes the draft of the batch.
func (b *batchBuilder) finish(a Args, undo Undo) (Draft, error) {
	d := b.d
	size := a.Group
	if size == 0 {
		size = defaultGroup
	}
	groupItems(b.items, a.Canary == nil || *a.Canary, size)
	sent := 0
	for _, x := range b.items {
		sent += x.Moves
	}
	for _, x := range b.items {
		if sent > maxWaitingMoves {
			x.NoWait, x.Steps = true, WithoutWaits(x.Steps)
		}
		d.step(operation.Step{Op: operation.OpItem, Item: x})
	}
	d.checks = append(d.checks, b.checks()...)
	if undo.Possible {
		undo.From = b.undoFrom
	}
	summary := message.New("batch", message.Plural(len(b.items), "{n} change as a batch: {what}.", "{n} changes as one batch: {what}."),
		message.Count("n", len(b.items)), message.Words("what", b.what()))
	out, _, err := d.finish(summary, undo)
	if err != nil {
		return out, err
	}
	out.Limits, out.Effect.ByBalancer = b.limits(out.Limits), sumOfBalancer(b.byBalancer)
	out.Effect.Duration = paced(out.Effect.Duration, a, sent, out.Effect.Bytes)
	if b.risk == High || len(b.items) > wideChunks {
		out.Risk = High
	} else if b.risk == Medium && out.Risk == Low {
		out.Risk = Medium
	}
	out.Confirm = ""
	if out.Risk == High {
		out.Confirm = "batch " + format.Count(int64(len(b.items)))
	}
	return out, nil
}

// what names the kinds of the items, in the order in which they come.
func (b *batchBuilder) what() string {
	var kinds []Kind
	count := map[Kind]int{}
	for _, k := range b.kinds {
		if count[k] == 0 {
			kinds = append(kinds, k)
		}
		count[k]++
	}
	text := ""
	for i, k := range kinds {
		if i > 0 {
			text += ", "
		}
		text += string(k)
		if len(kinds) > 1 {
			text += " × " + format.Count(int64(count[k]))
		}
	}
	return text
}

// limits are those of all items together. Each item has its own as well.
func (b *batchBuilder) limits(l operation.Limits) operation.Limits {
	l.Collections, l.Zones, l.Shards, l.Chunks = nil, nil, nil, 0
	var bytes []topology.Figure
	for _, x := range b.items {
		l.Collections = append(l.Collections, x.Limits.Collections...)
		l.Zones = append(l.Zones, x.Limits.Zones...)
		l.Shards = append(l.Shards, x.Limits.Shards...)
		l.Chunks += x.Limits.Chunks
		if x.Limits.Chunks > 0 {
			bytes = append(bytes, x.Limits.Bytes)
		}
	}
	l.Collections, l.Zones, l.Shards = natural.Unique(l.Collections), natural.Unique(l.Zones), natural.Unique(l.Shards)
	if l.Bytes = (topology.Figure{}); len(bytes) > 0 {
		l.Bytes = sumOf(bytes...)
	}
	return l
}

// paced is the time that a batch takes at least because of its limits per hour.
func paced(f topology.Figure, a Args, moves int, size topology.Figure) topology.Figure {
	var least time.Duration
	if a.ChunksPerHour > 0 {
		least = time.Duration(moves) * time.Hour / time.Duration(a.ChunksPerHour)
	}
	if a.BytesPerHour > 0 && size.Known {
		least = max(least, time.Duration(float64(size.Value)/float64(a.BytesPerHour)*float64(time.Hour)))
	}
	if f.Known && least.Milliseconds() > f.Value {
		f.Value, f.Exact = least.Milliseconds(), false
	}
	return f
}
