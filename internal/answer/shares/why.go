package shares

import (
	"cmp"
	"math"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// ShardWhy says why a shard has more or less than its even share: how much more or less of each
// part it has, where the differences of the parts add up to that of the shard.
func ShardWhy(v answer.View, h writes.HeatSource, q ShardWhyQuery) (api.ShardWhy, error) {
	switch {
	case v.Table.Shard(q.Shard) != nil:
	case !v.Table.Loaded:
		return api.ShardWhy{}, v.Table.NotLoaded()
	default:
		return api.ShardWhy{}, fault.New(fault.NotFound, "There is no shard %q.", sanitize.Truncate(q.Shard, 100))
	}
	w := newShardWhy(v, h, q)
	var found whyParts
	switch {
	case w.why != "":
	case q.NS == "":
		w.out.Level = "collections"
		found = w.collections()
	default:
		var err error
		if found, err = w.inside(); err != nil {
			return w.out, err
		}
	}
	w.out.EvenMeans = w.even.Means(w.zoned)
	w.finish(found)
	return w.out, nil
}

// shardWhy makes one answer.
type shardWhy struct {
	v     answer.View
	h     writes.HeatSource
	q     ShardWhyQuery
	even  answer.EvenShare
	out   api.ShardWhy
	why   string // why nothing is known
	zoned bool   // some of it is in zones
	load  map[string]float64
}

func newShardWhy(v answer.View, h writes.HeatSource, q ShardWhyQuery) *shardWhy {
	w := &shardWhy{v: v, h: h, q: q, even: answer.NewEvenShare(v.Table, q.Shard)}
	w.out = api.ShardWhy{Shard: q.Shard, By: q.By, NS: string(q.NS), Project: q.Project, Items: []api.ShardWhyPart{}}
	parts := []topology.Part{topology.PartRouting, topology.PartSizes}
	if q.By == data.OfWrites {
		parts = parts[:1]
		w.out.Window = v.WritesWindow().String()
		switch {
		case v.Past != nil:
			w.why = "Writes by shard are counted for the present only: there is no answer for a past time."
		case h.Counts == nil:
			w.why = "Writes are not counted here."
		}
	}
	w.out.Freshness = answer.FreshnessOf(v, parts...)
	return w
}

// whyPart is a part with its amounts before they are rounded.
type whyPart struct {
	api.ShardWhyPart
	here, even float64
	remedy     func(*whyPart) // says what would help; nil: nothing to say
}

func (p whyPart) difference() float64 { return p.here - p.even }

// whyParts are the parts of a level.
type whyParts struct {
	list    []whyPart
	unknown []whyPart // of which nothing is known
	noun    string    // what others are called: "collections"
	// whole is what the parts add up to; nil: their own sum.
	whole *whyPart
	left  string // what the parts lack of the whole; "": not attributed
}

func (f *whyParts) add(p whyPart) { f.list = append(f.list, p) }

// finish brings the parts in order, joins those beyond the limit, and rounds all so that the
// differences add up exactly.
func (w *shardWhy) finish(f whyParts) {
	if w.why != "" || len(f.list) == 0 && len(f.unknown) > 0 {
		w.out.Reason = w.why
		if w.why == "" {
			w.out.Reason = f.unknown[0].Text
		}
		w.out.Headline = message.New("shardWhy.unknown", "How much {shard} has more or less than an even share is not known.",
			message.Shard("shard", w.q.Shard))
		w.list(f.unknown)
		return
	}
	if f.whole != nil {
		f.addRest(1/w.q.unitOfMeasure(), w.v.Profile.Words(cmp.Or(f.left, "not attributed to single "+f.noun)))
	}
	slices.SortStableFunc(f.list, func(a, b whyPart) int {
		return cmp.Or(cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)), cmp.Compare(math.Abs(b.difference()), math.Abs(a.difference())))
	})
	f.joinOthers(w.q.Limit, w.v.Profile)
	whole := whyPart{}
	exact, atLeast := len(f.unknown) == 0, false
	for _, p := range f.list {
		whole.here, whole.even = whole.here+p.here, whole.even+p.even
		exact, atLeast = exact && p.Exact, atLeast || p.AtLeast
	}
	w.out.Exact, w.out.AtLeast = exact, atLeast
	w.round(f.list, whole)
	if !w.q.Brief {
		w.help(f.list)
	}
	w.list(f.list)
	w.list(f.unknown)
	w.out.Headline = w.headline()
}

func (w *shardWhy) list(parts []whyPart) {
	for _, p := range parts {
		if p.Plans == nil {
			p.Plans = []api.AdvicePlan{}
		}
		w.out.Items = append(w.out.Items, p.ShardWhyPart)
	}
}

// kindRank keeps what stands for many at the end.
func kindRank(kind string) int {
	return slices.Index([]string{"several", "elsewhere", "others", "rest", "unknown"}, kind)
}

// addRest adds what the parts lack of the whole, when it can be told apart from rounding.
func (f *whyParts) addRest(least float64, left string) {
	rest := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "rest", Text: left, NS: f.whole.NS,
		AtLeast: f.whole.AtLeast},
		here: f.whole.here, even: f.whole.even}
	for _, p := range f.list {
		rest.here, rest.even = rest.here-p.here, rest.even-p.even
	}
	if math.Abs(rest.here) < least && math.Abs(rest.even) < least {
		return
	}
	f.list = append(f.list, rest)
}

// joinOthers joins what is beyond the limit.
func (f *whyParts) joinOthers(limit int, p *profile.Profile) {
	single := 0
	for single < len(f.list) && kindRank(f.list[single].Kind) < 0 {
		single++
	}
	if single <= limit {
		return
	}
	others := whyPart{ShardWhyPart: api.ShardWhyPart{Kind: "others", Exact: true, NS: f.list[limit].NS}}
	if f.noun == "collections" {
		others.NS = ""
	}
	for _, p := range f.list[limit:single] {
		others.here, others.even = others.here+p.here, others.even+p.even
		others.Count += max(p.Count, 1)
		others.Exact, others.AtLeast = others.Exact && p.Exact, others.AtLeast || p.AtLeast
	}
	others.Text = p.Words("other, " + nounCount(others.Count, f.noun))
	rest := slices.Clone(f.list[single:])
	f.list = append(append(f.list[:limit:limit], others), rest...)
	slices.SortStableFunc(f.list, func(a, b whyPart) int { return cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)) })
}

// round makes whole units of the amounts. What rounding leaves over goes to the largest difference,
// where it is least seen, so that the differences add up.
func (w *shardWhy) round(list []whyPart, whole whyPart) {
	units := w.q.unitOfMeasure()
	in := func(x float64) int64 { return int64(math.Round(x * units)) }
	here, difference := in(whole.here), in(whole.difference())
	leftHere, left, largest, most := here, difference, -1, -1
	rounded := make([][2]int64, len(list))
	for i, p := range list {
		rounded[i] = [2]int64{in(p.here), in(p.difference())}
		leftHere, left = leftHere-rounded[i][0], left-rounded[i][1]
		if largest < 0 || math.Abs(p.difference()) > math.Abs(list[largest].difference()) {
			largest = i
		}
		if most < 0 || p.here > list[most].here {
			most = i
		}
	}
	if len(list) > 0 {
		rounded[most][0] += leftHere
		rounded[largest][1] += left
	}
	out := func(n int64) *float64 {
		x := float64(n) / units
		return &x
	}
	for i := range list {
		list[i].Here, list[i].Difference = out(rounded[i][0]), out(rounded[i][1])
		list[i].Even = out(rounded[i][0] - rounded[i][1])
	}
	w.out.Here, w.out.Difference, w.out.Even = out(here), out(difference), out(here-difference)
}

// headline is the difference in a sentence, with the part that makes most of it.
func (w *shardWhy) headline() message.Message {
	write := func(x float64) string { return AmountText(w.q.By, math.Abs(x)) }
	facts := []message.Fact{message.Shard("shard", w.q.Shard), message.Words("here", write(*w.out.Here)),
		message.Words("difference", write(*w.out.Difference)), message.Words("even", write(*w.out.Even)),
		message.Words("of", w.of()), message.Words("noun", w.q.AmountOf(*w.out.Here))}
	d := *w.out.Difference
	code, pattern := "shardWhy.even", "{shard} has {here}{noun}{of}: its even share."
	switch {
	case d > 0:
		code, pattern = "shardWhy.more", "{shard} has {here}{noun}{of}: {difference} more than its even share of {even}."
	case d < 0:
		code, pattern = "shardWhy.less", "{shard} has {here}{noun}{of}: {difference} less than its even share of {even}."
	}
	return message.New(code, pattern, facts...)
}

// of says of what the level is.
func (w *shardWhy) of() string {
	name := w.q.NS.Collection()
	switch {
	case w.q.NS == "":
		return ""
	case w.q.Project == SeveralProjects:
		return " in " + name + w.v.Profile.Words(", in chunks that several projects share")
	case w.q.Project != "" && w.q.Project != AllProjects:
		return " of " + cmp.Or(w.out.ProjectName, w.q.Project) + " in " + name
	}
	return " in " + name
}

// AmountText is an amount of what a shard has, with its unit.
func AmountText(by string, x float64) string {
	switch by {
	case data.OfBytes:
		return format.Bytes(int64(math.Round(x)))
	case data.OfWrites:
		return format.PerSecond(x) + "/s"
	}
	return format.Count(int64(math.Round(x)))
}
