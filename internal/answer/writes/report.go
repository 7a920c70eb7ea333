package writes

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HeatReport is where the writes of one collection go: the lists of one window, what
// they say together, and the picture.
type HeatReport struct {
	Query    HeatQuery       // with the collection that was chosen
	State    api.State       // instead of the lists; zero: there are lists
	Notes    []api.State     // beside the lists
	Coverage []heat.Coverage // what is counted, and what is not with the reason
	Own      []topology.Namespace

	Changed  bool // rows are changed in place: rates are lower bounds for the hottest projects
	Lead     message.Message
	Measured message.Message
	Chunks   []api.Heat
	Projects []api.Heat
	// Operations are those by the servers' own counters on which reads take most of the time, of all collections.
	Operations []api.HeatOperations
	// ProjectShards are the projects by the shards that take their writes.
	ProjectShards []api.Heat
	// Documents is empty where documents are not counted, and NoDocuments tells so.
	Documents   []api.Heat
	NoDocuments bool
	Shards      []api.Heat

	Skew    heat.Skew // zero for changed rows
	Even    string    // what the skew means; "" without writes
	Growing api.State // a warning; zero: none
	Spread  string    // how inserts spread, when there is no warning

	Picture  HeatTable
	Selected *HeatSelection // nil: nothing is selected
}

func stateOf(code, title, detail string) api.State {
	return api.State{Code: code, Title: title, Detail: detail}
}

// ShownHot is how many of a kind the page lists.
const ShownHot = 10

// Heat chooses the collection and reports on it.
func Heat(ctx context.Context, v answer.View, h HeatSource, q HeatQuery) (HeatReport, error) {
	out := HeatReport{Query: q}
	switch {
	case h.Counts == nil:
		out.State = noCollector()
		return out, nil
	case !v.Table.Loaded:
		if out.State = answer.NotReached(v.Table); out.State.Code == "" {
			out.State = stateOf("loading", "Counting has just begun", firstCount(heat.NewRows))
		}
		return out, nil
	}
	out.Coverage = heat.Cover(v.Table, v.Profile)
	for _, c := range v.Table.Collections {
		if topology.IsInternal(c.NS) {
			out.Own = append(out.Own, c.NS)
		}
	}
	i := slices.IndexFunc(out.Coverage, func(c heat.Coverage) bool {
		return c.NS == q.NS || q.NS == "" && c.Not == ""
	})
	switch {
	case i < 0 && q.NS == "":
		out.State = stateOf("empty", NoCountableTitle, noCountableDetail)
		return out, nil
	case i < 0:
		return out, noCollection(q.NS)
	case out.Coverage[i].Not != "":
		return out, writesNotCounted(v, out.Coverage[i], true)
	}
	q.NS = out.Coverage[i].NS
	out.Query = q
	w := h.Counts.Window(q.NS, q.Window)
	health, _ := h.Counts.Health(q.NS)
	if w.Seconds == 0 {
		w.Method = out.Coverage[i].Method
		out.State = stateOf("loading", "Counting has just begun", firstCount(w.Method))
		if health.Err != nil {
			out.State = failedCount(health)
		}
	} else {
		out.describe(v, h, w)
		out.Notes = append(out.Notes, heatHealth(health, w)...)
	}
	out.Changed = w.Method == heat.ChangedRows
	out.Picture = heatTable(ctx, v, h, q, health) // it may know of the time before a restart
	out.Selected = heatSelection(v, h, q)
	return out, nil
}

func noCollector() api.State {
	return stateOf("empty", "Writes are not counted here", "This shardboard runs without a heat collector.")
}

// describe fills in what is known of a window.
func (r *HeatReport) describe(v answer.View, h HeatSource, w heat.Window) {
	changed := w.Method == heat.ChangedRows
	windows, q := []heat.Window{w}, HeatListQuery{NS: w.NS, Window: r.Query.Window, Limit: ShownHot}
	r.Chunks = First(HeatChunks(v, h, q, windows), ShownHot)
	r.Projects = First(HeatProjects(v, h, q, windows), ShownHot)
	r.ProjectShards = First(HeatProjectShards(v, h, q, windows), ShownHot)
	r.Documents = First(HeatDocuments(v, h, q, windows), ShownHot)
	r.NoDocuments = changed || len(r.Documents) == 0 && len(r.Projects) > 0
	r.Shards = HeatShards(v, h, q, windows)
	r.Operations = First(slowestReads(v, h), ShownHot)
	r.Lead, r.Measured = heatLead(r.Query, w, r.Chunks), heatMeasured(w)
	if changed {
		r.Notes = append(r.Notes, stateOf("partial", v.Profile.Words("Lower bounds, of the hottest projects only"), hottestOnly(v, w)))
	} else {
		r.Skew = w.Skew(v.Table, v.Profile)
		r.Even = skewText(r.Skew)
		r.Growing, r.Spread = insertGrowth(w.Growing(v.Table), v.Table.Collection(w.NS))
	}
	if w.Total.Rows == 0 {
		r.Notes = append(r.Notes, noWrites(v, w))
	}
}

// heatLead is the headline: how much is written, and where most of it goes.
func heatLead(q HeatQuery, w heat.Window, chunks []api.Heat) message.Message {
	pattern, shortest := "{rate} writes/s in {ns} over {window}", heat.Shortest
	if w.Method == heat.ChangedRows {
		pattern, shortest = "{rate} changed rows/s in {ns} over {window}", keyvis.Finest
	}
	over := max(q.Window, shortest)
	if counted := w.To.Sub(w.From).Truncate(time.Second); counted > 0 && over-counted > heat.Shortest { // as in the first minutes
		over = counted
	}
	facts := []message.Fact{message.Words("rate", RateText(w.Total)), message.Namespace("ns", w.NS), message.Duration("window", over)}
	switch {
	case w.Total.Rows == 0 && w.Method == heat.ChangedRows:
		pattern = "No changed rows were counted in {ns} over {window}"
	case w.Total.Rows == 0:
		pattern = "No writes to {ns} over {window}"
	case len(chunks) > 0:
		top := chunks[0]
		many := "the hottest of {of} chunks takes {share}, on {shard}"
		if w.Method == heat.ChangedRows {
			many = "the hottest of {of} chunks takes {share} of what was counted, on {shard}"
		}
		pattern += "; " + message.Plural(top.Of, "it has one chunk, on {shard}", many)
		facts = append(facts, message.Count("of", top.Of), message.Share("share", top.Share), message.Shard("shard", top.Shard))
	}
	return message.New("lead", pattern+".", facts...)
}

func heatMeasured(w heat.Window) message.Message {
	how := "Every new row was counted"
	switch {
	case w.Method == heat.ChangedRows:
		how = "Rows were counted by the date of their last change"
	case w.Total.AtLeast:
		how = "There were more writes than may be read for counting, so these are lower bounds; rows were counted"
	case !w.Total.Exact:
		how = "One second in ten was counted"
	}
	return message.New("measured", how+" from {from} to {to}, {covered} of {seconds} s.",
		message.Words("from", format.Clock(w.From)), message.Words("to", format.Clock(w.To)),
		message.Count("covered", int64(w.Seconds)), message.Count("seconds", int64(w.To.Sub(w.From).Seconds())))
}

func hottestOnly(v answer.View, w heat.Window) string {
	return v.Own(message.New("hottest", "Rows of {name} are changed in place and no index finds them by the date of the change. "+
		"Once a minute those of the {n} projects with most new rows are counted; what others change is not known, "+
		"and a row that changed twice in the minute counts once. Shares are of what was counted.",
		message.Text("name", w.NS.Collection()), message.Count("n", heat.HottestProjects))).String()
}

func noWrites(v answer.View, w heat.Window) api.State {
	ns := message.Namespace("ns", w.NS)
	if w.Method == heat.ChangedRows {
		return stateOf("empty", "No changed rows in this window",
			v.Own(message.New("none",
				"The counting works; none of the hottest projects changed a row of {ns}, or no project is hot.", ns)).String())
	}
	return stateOf("empty", "No writes in this window", message.New("none", "The counting works; nothing was added to {ns}.", ns).String())
}

func failedCount(h heat.Health) api.State {
	out := api.State{Code: failedCountCode(h), Title: "Writes could not be counted", Detail: fault.Text(h.Err)}
	if out.Code == "denied" {
		out.Title = "Counting writes is not permitted"
	}
	return out
}

func heatHealth(h heat.Health, w heat.Window) (out []api.State) {
	if h.Err != nil {
		note := failedCount(h)
		note.Detail += " The figures end at " + format.Clock(w.To) + "."
		out = append(out, note)
	}
	if h.Sampled {
		out = append(out, stateOf("partial", "Counted in samples",
			"The load is high, so only one second in ten is counted, and figures have a ± interval."))
	}
	return out
}

func skewText(s heat.Skew) string {
	switch {
	case s.Shards.Most <= 0:
		return ""
	case s.Shards.MaxMean >= 1.5:
		return "The writes are spread unevenly over the shards: the hottest takes " + format.PerSecond(s.Shards.MaxMean) + " times its share."
	case s.Chunks.Gini >= 0.7:
		return "Few chunks take most of the writes, and they are on several shards."
	}
	return "The writes are spread about evenly over the shards."
}

// insertGrowth is a warning where inserts go to the end of the key space, else how they spread.
func insertGrowth(g heat.Growing, c *topology.Collection) (warning api.State, spread string) {
	switch {
	case g.Is:
		return stateOf("failed", "The shard key grows: inserts always go to the last chunk",
			message.New("growing", "{share} of {rows} new rows, in {of} of {slots} slices of time, went to the last chunk by {field}, "+
				"which {shard} owns. Splits and moves always come too late; a hashed or another leading field helps.",
				message.Share("share", g.Share), message.Count("rows", g.Rows), message.Count("of", g.Of), message.Count("slots", g.Slots),
				message.Text("field", g.Field), message.Shard("shard", g.Shard)).String()), ""
	case c.Key.Fields()[0].Hashed:
		return api.State{}, "The first field is hashed: inserts cannot pile up at the end of the key space."
	case g.Rows > 0:
		return api.State{}, "Inserts do not pile up at the end of the key space."
	}
	return api.State{}, ""
}
