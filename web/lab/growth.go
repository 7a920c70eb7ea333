package lab

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

const (
	growthMovesShown  = 50
	growthGroupsShown = 20
	growthUnsplit     = 5 // projects
	growthBarsShown   = 48
	growthMostLines   = 100_000 // moves in one part of a CSV file
)

// growthAnswer is the prediction for scripts.
func growthAnswer(s *site.Site, r *http.Request) (a api.LabGrowth, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[trying.GrowthQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	if site.WantsCSV(r) || strings.HasSuffix(r.URL.Path, ".csv") {
		q.Limit = growthMostLines // a file has all moves: they are computed together
	}
	return trying.LabGrowth(v, q)
}

// growthPage is the planner: the inputs as a form, and what follows from them.
func growthPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	q, err := param.Read[trying.GrowthQuery](r.URL.Query())
	if err != nil {
		return err
	}
	m := growthView{query: q, refs: templates.RefsOf(v.Table), say: templates.SentencesOf(v), view: v}
	if v.Table.Loaded {
		q.Limit = growthMovesShown
		if m.LabGrowth, err = trying.LabGrowth(v, q); err != nil {
			return err
		}
		offers := s.Offers(r, v.Table)
		m.mayPlan = offers != nil && offers.WhyNone == ""
		if q.Batch && m.mayPlan {
			batch, err := trying.GrowthBatchOf(v, q)
			if err != nil {
				return err
			}
			m.batch = &batch
		}
	}
	return site.WritePage(w, r, http.StatusOK, growthTemplate(s.Shell(r, v, "lab-growth", "Growth"), m))
}

// growthView is a prediction as its page lays it out.
type growthView struct {
	api.LabGrowth
	query   trying.GrowthQuery
	refs    templates.Refs
	say     templates.Sentences
	view    answer.View
	mayPlan bool
	batch   *trying.GrowthBatch // nil: the form was not asked for
}

// state is why there is nothing to show; its code is "" if there is something.
func (m growthView) state() api.State {
	switch {
	case !m.view.Table.Loaded:
		return answer.PartState(m.view, topology.PartRouting)
	case !slices.ContainsFunc(m.Collections, func(c api.LabGrowthSource) bool { return c.Reason == "" }):
		if len(m.Collections) == 0 {
			return api.State{Code: "empty", Title: "No collection is sharded, so there is no chunk that could move."}
		}
		return api.State{Code: "unknown", Title: "Not known.",
			Detail: "The size of no sharded collection is known yet. " + strings.Join(m.Notes, " ")}
	}
	return api.State{}
}

// headline is the answer in two sentences.
func (m growthView) headline() string {
	if m.Moves == 0 {
		return "Nothing moves."
	}
	text := fmt.Sprintf("%s %s, about %s in %s: about %s at %s a second.", format.Count(int64(m.Moves)),
		message.Plural(m.Moves, "chunk moves", "chunks move"), format.Bytes(*m.Bytes.Value),
		format.Count(int64(m.GroupCount))+message.Plural(m.GroupCount, " group", " groups"), seconds(m.Seconds), format.Bytes(m.Inputs.Rate))
	return text
}

// batchTime says how long a batch of the moves takes, where that is longer.
func (m growthView) batchTime() string {
	if m.BatchSeconds <= m.Seconds {
		return ""
	}
	return "As a batch, which moves the chunks of one collection one after the other: about " + seconds(m.BatchSeconds) + "."
}

// zones is the alternative with zones, and what it costs.
func (m growthView) zones() string {
	if m.ZoneRanges == 0 {
		return ""
	}
	return fmt.Sprintf("The alternative with zones needs %s: the balancer then makes the moves in its own order and keeps the chunks "+
		"there, but it can no longer even out what grows inside a range.",
		format.Count(int64(m.ZoneRanges))+message.Plural(m.ZoneRanges, " zone range", " zone ranges"))
}

func seconds(s float64) string {
	if s > 0 && s < 1 {
		return "less than 1 s"
	}
	return format.Span(time.Duration(s * float64(time.Second)))
}

func share(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return format.Share(*f)
}

// ref is a shard as it is shown; those that do not exist yet follow those of today.
func (m growthView) ref(name string) templates.ShardRef { return m.refs.Of(name) }

// bars are the shards of the picture: of many the fullest after the growth, in their order.
func (m growthView) bars() (out []api.LabGrowthShard, left int) {
	if len(m.Shards) <= growthBarsShown {
		return m.Shards, 0
	}
	order := slices.Clone(m.Shards)
	slices.SortStableFunc(order, func(a, b api.LabGrowthShard) int {
		return int(math.Copysign(1, m.fullness(b)-m.fullness(a)))
	})
	keep := map[string]bool{}
	for _, s := range order[:growthBarsShown] {
		keep[s.Shard] = true
	}
	for _, s := range m.Shards {
		if keep[s.Shard] {
			out = append(out, s)
		}
	}
	return out, len(m.Shards) - len(out)
}

func (m growthView) fullness(s api.LabGrowthShard) float64 {
	if s.GrownShare != nil {
		return *s.GrownShare
	}
	return float64(*s.Grown.Value) / 1e18
}

// scale is how many bytes the bars have room for.
func (m growthView) scale() float64 {
	most := int64(1)
	for _, s := range m.Shards {
		most = max(most, *s.Before.Value, *s.After.Value, *s.Grown.Value)
		if s.Capacity.Value != nil && *s.Capacity.Value < 4**s.Grown.Value {
			most = max(most, *s.Capacity.Value)
		}
	}
	return float64(most) * 1.02
}

// at is where a number of bytes ends on the axis of the bars.
func (m growthView) at(f api.Figure) string { return templates.Percent(float64(*f.Value) / m.scale()) }

func (m growthView) fitsAxis(s api.LabGrowthShard) bool {
	return s.Capacity.Value != nil && float64(*s.Capacity.Value) <= m.scale()
}

// barTitle is the bars of a shard in words.
func barTitle(s api.LabGrowthShard) string {
	text := fmt.Sprintf("%s: %s before, %s after the moves, %s after the growth", s.Shard, format.Bytes(*s.Before.Value),
		format.Bytes(*s.After.Value), format.Bytes(*s.Grown.Value))
	if s.Capacity.Value != nil {
		text += ", capacity " + format.Bytes(*s.Capacity.Value)
	}
	return text
}

// curveWidth and curveHeight are the units of the picture of groups.
const (
	curveWidth  = 1000
	curveHeight = 100
)

// curve is how full the fullest shard is over time, as a path of steps; "" where no capacity is known.
func (m growthView) curve() string {
	var path strings.Builder
	last := 0.0
	for _, g := range m.Groups {
		if g.Used == nil || m.Seconds <= 0 {
			continue
		}
		y := curveHeight - g.Share/m.curveTop()*curveHeight
		x := g.Start / m.Seconds * curveWidth
		if path.Len() == 0 {
			fmt.Fprintf(&path, "M0 %dV%s", curveHeight, templates.Trim(y))
		} else {
			fmt.Fprintf(&path, "H%sV%s", templates.Trim(x), templates.Trim(y))
		}
		last = g.End / m.Seconds * curveWidth
	}
	if path.Len() == 0 {
		return ""
	}
	fmt.Fprintf(&path, "H%sV%dZ", templates.Trim(last), curveHeight)
	return path.String()
}

// curveTop is the share at the top of the picture.
func (m growthView) curveTop() float64 {
	top := 1.0
	for _, g := range m.Groups {
		top = max(top, g.Share)
	}
	return top * 1.05
}

// capacityLine is where a full shard is in the picture.
func (m growthView) capacityLine() string {
	return templates.Trim(curveHeight - curveHeight/m.curveTop())
}

// worst is the group with the least free space, as a share; nil where no capacity is known.
func (m growthView) worst() *api.LabGrowthGroup {
	var out *api.LabGrowthGroup
	for i, g := range m.Groups {
		if g.Used != nil && (out == nil || g.Share > out.Share) {
			out = &m.Groups[i]
		}
	}
	return out
}

func (m growthView) worstText() string {
	g := m.worst()
	if g == nil {
		return ""
	}
	if *g.Free < 0 {
		return fmt.Sprintf("In group %s, %s lacks %s: the moves do not fit.", format.Count(int64(g.Group)), g.Fullest, format.Bytes(-*g.Free))
	}
	return fmt.Sprintf("Least free space: %s on %s in group %s (%s full), with what waits for deletion.", format.Bytes(*g.Free), g.Fullest,
		format.Count(int64(g.Group)), format.Share(g.Share))
}

// wayText says what becomes of a way.
func wayText(w api.LabGrowthWay) string {
	switch {
	case w.Fits == nil:
		return "Whether it fits is not known: the capacity of some shard is not."
	case *w.Fits:
		return "Fits."
	}
	return "Does not fit: " + w.Fullest + " gets more than it can hold."
}

// groupsShown are the first groups and, of more, how many are left out.
func (m growthView) groupsShown() (out []api.LabGrowthGroup, left int) {
	out = m.Groups[:min(len(m.Groups), growthGroupsShown)]
	return out, m.GroupCount - len(out)
}

func freeText(g api.LabGrowthGroup) string {
	if g.Free == nil {
		return "unknown"
	}
	if *g.Free < 0 {
		return "−" + format.Bytes(-*g.Free)
	}
	return format.Bytes(*g.Free)
}

// sizeField is a size as the form shows it; "" for what is not typed in.
func sizeField(n int64) string {
	if n == 0 {
		return ""
	}
	return trying.BytesTyped(n)
}

// known is a hint for a size that was not typed in.
func known(f api.Figure) string {
	if f.Value == nil {
		return "unknown"
	}
	return "about " + format.Bytes(*f.Value)
}

// projects are the choices of a project that grows: the largest that are known, and the one of the query.
func (m growthView) projects() []templates.Option {
	out := []templates.Option{{Text: "none", Selected: m.query.Project == ""}}
	found := m.query.Project == ""
	for _, p := range trying.LargestProjects(m.view, 50) {
		id := p.ID.Hex()
		found = found || id == m.query.Project
		out = append(out, templates.Option{Value: id, Text: answer.NameOf(p), Selected: id == m.query.Project})
	}
	if !found {
		out = append(out, templates.Option{Value: m.query.Project, Text: answer.NameOf(placement.Project{Name: m.Inputs.ProjectName}),
			Selected: true})
	}
	return out
}

func (m growthView) emptyChoices() []templates.Option {
	out := templates.ShardOptions(m.view.Table, m.query.Empty)
	out[0].Text = "none"
	return out
}

// previous and next are the addresses of the parts of the list of moves; "" for none.
func (m growthView) previous() string {
	if m.From == 0 {
		return ""
	}
	return m.query.AtMove(max(0, m.From-growthMovesShown))
}

func (m growthView) next() string {
	if m.Next == "" {
		return ""
	}
	return m.query.AtMove(m.From + len(m.Items))
}

// added tells whether a shard does not exist yet.
func (m growthView) added(name string) bool {
	_, ok := m.refs[name]
	return !ok
}
