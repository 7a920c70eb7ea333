package answer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// locateAnswer is the first sentence about a found thing: the shards stand between
// its beginning and its end.
type locateAnswer struct {
	Lead, End string
	Shards    []string
}

// sentence is the whole of it.
func (h locateAnswer) sentence() string {
	return sanitize.Sentence(strings.TrimSpace(h.Lead+" "+JoinWords(h.Shards)) + h.End + ".")
}

// headlineOf says where a thing is, by the best that is known of each of its
// places: a count of its rows where one was made, else whether a row was seen,
// else where its rows belong by the routing table.
func HeadlineOf(it api.LocateItem) locateAnswer {
	e := rowEvidenceOf(it)
	var h locateAnswer
	switch {
	case e.total > 0:
		h = e.stored(it.Kind == "key")
	case e.counted > 0:
		h = locateAnswer{Lead: "It belongs on", Shards: e.belongs, End: " — no row is stored there"}
		if len(e.open) > 0 {
			h.End = " — no row was found where it was counted" + "; not counted in " + e.uncounted()
		}
		switch {
		case len(e.belongs) == 0:
			h.Lead = "No shard is known to hold it."
			h.End = ""
		case it.Kind == "key" && e.exact:
			h.Lead = "This key belongs on"
		case it.Kind == "key":
			h.Lead = "Rows with this key belong on some of"
		case !e.exact:
			h.Lead = "Its rows belong on some of"
		}
	default:
		h = locateAnswer{Lead: e.unasked(it), Shards: e.belongs}
		if len(e.open) > 0 {
			h.End = " — its rows were not counted: " + JoinWords(slices.Compact(slices.Sorted(slices.Values(e.whys))))
		}
	}
	if len(h.Shards) == 0 {
		h.Lead = strings.TrimSuffix(h.Lead, ".")
	}
	if e.differs {
		h.End += "; the mongos routes elsewhere, see the proof"
	}
	return h
}

// rowEvidence is what the places of a thing show together.
type rowEvidence struct {
	belongs []string // shards of all places that there are
	exact   bool     // each place is on one shard
	holders []string // shards of places with counted rows
	sure    bool     // each place with counted rows is on one shard
	total   int64    // rows counted
	counted int      // places whose rows were counted
	open    []string // those that were to be counted and were not
	whys    []string // for each of them the reason
	differs bool     // the mongos routes otherwise
}

func rowEvidenceOf(it api.LocateItem) rowEvidence {
	e := rowEvidence{exact: true, sure: true}
	belongs, holders := map[string]bool{}, map[string]bool{}
	for _, p := range it.Places {
		if p.State == "absent" {
			continue
		}
		e.exact = e.exact && p.Exact
		addAll(belongs, p.Shards)
		e.differs = e.differs || p.Proof != nil && p.Proof.State == "differs"
		switch {
		case p.Rows == nil:
		case p.Rows.Value == nil:
			e.open, e.whys = append(e.open, collectionName(p.NS)), append(e.whys, whyUncounted(*p.Rows))
		default:
			e.counted++
			if *p.Rows.Value > 0 {
				e.total += *p.Rows.Value
				e.sure = e.sure && p.Exact
				addAll(holders, p.Shards)
			}
		}
	}
	e.belongs, e.holders = slices.Sorted(maps.Keys(belongs)), slices.Sorted(maps.Keys(holders))
	return e
}

// uncounted names the places that were not counted, and why: once where the
// reason is the same.
func (e rowEvidence) uncounted() string {
	same := len(slices.Compact(slices.Clone(e.whys))) == 1
	if same {
		return fmt.Sprintf("%s (%s)", JoinWords(e.open), e.whys[0])
	}
	out := make([]string, len(e.open))
	for i := range out {
		out[i] = fmt.Sprintf("%s (%s)", e.open[i], e.whys[i])
	}
	return JoinWords(out)
}

func addAll(to map[string]bool, names []string) {
	for _, n := range names {
		to[n] = true
	}
}

// stored is the headline of a thing of which rows were counted.
func (e rowEvidence) stored(key bool) locateAnswer {
	h := locateAnswer{Shards: e.holders, End: message.Plural(e.total, " ("+format.Count(e.total)+" row)", " ("+format.Count(e.total)+" rows)")}
	switch {
	case len(e.holders) == 0:
		h.Lead = "Rows of it are stored; on which shard is not known"
	case key && e.sure:
		h.Lead = "Rows with this key are on"
	case key:
		h.Lead = "Rows with this key are on some of"
	case !e.sure:
		h.Lead = "Rows of it are on some of"
	case len(e.open) > 0:
		h.Lead = "Rows of it are on"
	case len(e.holders) == 1:
		h.Lead = "All of it is on"
	default:
		h.Lead = "Its rows are on"
	}
	if len(e.open) > 0 {
		h.End += "; not counted in " + e.uncounted()
	}
	return h
}

// unasked is the beginning of the headline when no row was counted.
func (e rowEvidence) unasked(it api.LocateItem) string {
	switch {
	case slices.ContainsFunc(it.Notes, func(n api.Note) bool { return n.Code == "note.rowGone" }):
		return "Its rows would be on"
	case len(e.belongs) == 0:
		return "No shard is known to hold it."
	case it.Kind == "key" && len(e.belongs) == 1:
		return "This key belongs on"
	case it.Kind == "key":
		return "Rows with this key belong on some of"
	case len(e.belongs) == 1:
		return "All of it is on"
	case e.exact:
		return "Its rows are on"
	}
	return "Its rows are on some of"
}

// whyUncounted is why rows were not counted.
func whyUncounted(f api.Figure) string {
	if key := "reason.count." + f.Reason; words.Has(key) {
		return words.T(key)
	}
	return topology.ReasonText(f.Reason)
}

func collectionName(ns string) string {
	_, name, _ := strings.Cut(ns, ".")
	return name
}

// thereText is the cell of a place that says whether there is something.
func ThereText(p api.Place) string {
	switch {
	case p.Rows == nil || p.Rows.Value == nil || p.State == "absent":
		return words.Code("exists", p.State, nil)
	case *p.Rows.Value == 0:
		return "no row"
	}
	return message.Plural(*p.Rows.Value, format.Count(*p.Rows.Value)+" row", format.Count(*p.Rows.Value)+" rows")
}

// takeCount takes a count over into what a place says of its rows.
func takeCount(p *api.Place) {
	if p.Rows == nil || p.Rows.Value == nil || p.State == "absent" {
		return
	}
	there := *p.Rows.Value > 0
	p.Exists = &there
	switch {
	case there:
		p.State = "yes"
	default:
		p.State = "would-be"
	}
}

// ticketRows is what a ticket says of a place's rows; "" when nobody asked.
func ticketRows(f *api.Figure) string {
	switch {
	case f == nil:
		return ""
	case f.Value == nil:
		return "rows not counted: " + whyUncounted(*f)
	case *f.Value == 0:
		return "no row is stored there"
	}
	return message.Plural(*f.Value, format.Count(*f.Value)+" row counted there", format.Count(*f.Value)+" rows counted there")
}
