package locating

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// headlineOf says where a thing is, by the best that is known of each of its
// places: a count of its rows where one was made, else whether a row was seen,
// else where its rows belong by the routing table.
func headlineOf(it api.LocateItem) message.Message {
	e := rowEvidenceOf(it)
	var h headline
	switch {
	case len(e.damaged) > 0 && it.Kind == "key":
		h = e.byMetadata()
	case len(e.missing) > 0 && e.total == 0:
		h = e.ownedByMissing(it.Kind == "key")
	case e.total > 0:
		h = e.stored(it.Kind == "key")
	case e.counted > 0:
		h = e.empty(it.Kind == "key")
	default:
		h = headline{lead: e.unasked(it), shards: e.belongs}
		if len(e.open) > 0 {
			h.end = " — its rows were not counted: " + format.JoinWords(slices.Compact(slices.Sorted(slices.Values(e.whys))))
		} else if parts := e.parts(it); parts != nil {
			h = headline{parts: parts}
		}
	}
	if len(e.damaged) > 0 && it.Kind == "key" && len(e.missing) > 0 {
		h.end += "; the cluster does not have " + format.JoinWords(answer.Map(e.missing, sanitize.Line))
	}
	if len(e.damaged) > 0 {
		h.end += " — MongoDB refuses every operation on " + format.JoinWords(e.damaged) + message.Plural(len(e.damaged),
			": its routing table is damaged", ": their routing tables are damaged")
	}
	if len(e.unread) > 0 {
		h.end += "; " + format.JoinWords(e.unread) + message.Plural(len(e.unread), " is not read", " are not read")
	}
	if e.differs {
		h.end += "; the mongos routes elsewhere, see the proof"
	}
	return h.message()
}

// headline is a sentence about shards: they stand between its lead and its end.
type headline struct {
	lead, end string
	shards    []string
	parts     []headline // of collections of which not the same is known, in place of lead and shards
	unproven  bool       // no row was seen on these shards
}

// UnprovenShard begins the names of facts of a headline that are shards on which no row was seen.
const UnprovenShard = "maybe"

// message names each shard as a fact, so that a page can link it, and counts those that nobody would read.
func (h headline) message() message.Message {
	var facts []message.Fact
	var pattern []string
	for _, part := range append(h.parts, headline{lead: h.lead, shards: h.shards}) {
		var names []string
		if many := answer.ManyShards(len(part.shards)); many != "" {
			part.shards, names = nil, []string{many}
		}
		for _, s := range part.shards {
			name := "shard"
			if part.unproven {
				name = UnprovenShard
			}
			name += strconv.Itoa(len(facts))
			facts, names = append(facts, message.Shard(name, s)), append(names, "{"+name+"}")
		}
		lead := ""
		if part.lead != "" { // a fact: names of collections may have braces
			lead = "{lead" + strconv.Itoa(len(facts)) + "} "
			facts = append(facts, message.Words(strings.Trim(lead, "{} "), part.lead))
		}
		if words := strings.TrimSuffix(lead+format.JoinWords(names), " ") + part.end; words != "" {
			pattern = append(pattern, words)
		}
	}
	return message.New("locate.headline", strings.Join(pattern, "; ")+"{end}.", append(facts, message.Words("end", h.end))...)
}

// parts are what is known where nothing was counted: of collections in which a row was seen the shard, of the others
// where rows would be. nil if a row was seen in all of them, or nothing of it is known.
func (e rowEvidence) parts(it api.LocateItem) (out []headline) {
	gone := func(n api.Note) bool { return n.Code == placement.NoteRowGone }
	if it.Kind == "key" || len(e.belongs) == 0 || slices.ContainsFunc(it.Notes, gone) {
		return nil
	}
	seen := map[string][]string{} // by shard
	var sure, unsure unseenRows
	for _, p := range it.Places {
		name := sanitize.Line(collectionName(p.NS))
		switch {
		case p.State == "absent":
		case p.Exists != nil && *p.Exists && p.Exact && len(p.Shards) == 1:
			seen[p.Shards[0]] = append(seen[p.Shards[0]], name)
		case p.Exact && len(p.Shards) > 0:
			sure.add(name, p.Shards)
		default:
			unsure.add(name, p.Shards)
		}
	}
	for _, shard := range natural.Sorted(maps.Keys(seen)) {
		out = append(out, headline{lead: format.JoinWords(seen[shard]) + ":", shards: []string{shard}})
	}
	if len(sure.names)+len(unsure.names) == 0 {
		return nil
	}
	alone := len(out) == 0 && (len(sure.names) == 0 || len(unsure.names) == 0)
	return slices.Concat(out, sure.headlines("on", alone), unsure.headlines("on some of", alone))
}

// unseenRows are collections in which no row was seen, and the shards where rows would be.
type unseenRows struct{ names, shards []string }

func (u *unseenRows) add(name string, shards []string) {
	u.names, u.shards = append(u.names, name), append(u.shards, shards...)
}

// headlines is one, or none without collections. The collections are not named where nothing else is said.
func (u unseenRows) headlines(lead string, alone bool) []headline {
	if len(u.names) == 0 {
		return nil
	}
	natural.Sort(u.shards)
	h := headline{lead: lead, shards: slices.Compact(u.shards), end: ", not counted", unproven: true}
	switch len(h.shards) {
	case 0:
		h.lead, h.end = "", " not counted"
	case 1:
		h.lead = "on"
	}
	if alone {
		h.lead = strings.TrimSuffix("Its rows belong "+h.lead, " ")
	} else {
		h.lead = strings.TrimSuffix(format.JoinWords(u.names)+": "+h.lead, " ")
	}
	return []headline{h}
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
	unread  []string // collections that are not read
	damaged []string // collections whose routing table is damaged
	missing []string // shards of belongs that the cluster does not have
	differs bool     // the mongos routes otherwise
}

func rowEvidenceOf(it api.LocateItem) rowEvidence {
	e := rowEvidence{sure: true}
	e.belongs, e.exact = belongsOn(it)
	holders := map[string]bool{}
	for _, p := range it.Places {
		if p.State == "absent" {
			continue
		}
		if p.Damage != nil && p.Damage.Kind == string(topology.DamageUnread) {
			e.unread = append(e.unread, sanitize.Line(p.NS))
		} else if p.Damage != nil {
			e.damaged = append(e.damaged, sanitize.Line(p.NS))
		}
		e.missing = append(e.missing, p.MissingShards...)
		e.differs = e.differs || p.Proof != nil && p.Proof.State == "differs"
		switch {
		case p.Rows == nil:
		case p.Rows.Value == nil:
			e.open, e.whys = append(e.open, sanitize.Line(collectionName(p.NS))), append(e.whys, whyUncounted(*p.Rows))
		default:
			e.counted++
			if *p.Rows.Value > 0 {
				e.total += *p.Rows.Value
				e.sure = e.sure && p.Exact
				for _, shard := range p.Shards {
					holders[shard] = true
				}
			}
		}
	}
	e.holders = natural.Sorted(maps.Keys(holders))
	natural.Sort(e.missing)
	e.missing = slices.Compact(e.missing)
	return e
}

// uncounted names the places that were not counted, and why: once where the
// reason is the same.
func (e rowEvidence) uncounted() string {
	same := len(slices.Compact(slices.Clone(e.whys))) == 1
	if same {
		return fmt.Sprintf("%s (%s)", format.JoinWords(e.open), e.whys[0])
	}
	out := make([]string, len(e.open))
	for i := range out {
		out[i] = fmt.Sprintf("%s (%s)", e.open[i], e.whys[i])
	}
	return format.JoinWords(out)
}

// stored is the headline of a thing of which rows were counted.
func (e rowEvidence) stored(key bool) headline {
	h := headline{shards: e.holders, end: " (" + countRows(e.total) + ")"}
	switch {
	case len(e.holders) == 0:
		h.lead = "It has rows, but on which shard is not known"
	case key && e.sure:
		h.lead = "Rows with this key are on"
	case key:
		h.lead = "Rows with this key are on some of"
	case !e.sure:
		h.lead = "It has rows on some of"
	case len(e.open) > 0:
		h.lead = "It has rows on"
	case len(e.holders) == 1:
		h.lead = "All of it is on"
	default:
		h.lead = "Its rows are on"
	}
	if len(e.open) > 0 {
		h.end += "; not counted in " + e.uncounted()
	}
	return h
}

// empty is the headline of a thing of which no row was found where it was counted.
func (e rowEvidence) empty(key bool) headline {
	h := headline{lead: "It belongs on", shards: e.belongs, end: " — no row is stored there"}
	if len(e.open) > 0 {
		h.end = " — no row was found where it was counted; not counted in " + e.uncounted()
	}
	switch {
	case len(e.belongs) == 0:
		h.lead, h.end = noShard, ""
	case key && e.exact:
		h.lead = "This key belongs on"
	case key:
		h.lead = "Rows with this key belong on some of"
	case !e.exact:
		h.lead = "Its rows belong on some of"
	}
	return h
}

// byMetadata is the headline of a key in a collection whose routing table is damaged.
func (e rowEvidence) byMetadata() headline {
	switch len(e.belongs) {
	case 0:
		return headline{lead: "No shard owns this key"}
	case 1:
		return headline{lead: "By the metadata this key belongs on", shards: e.belongs}
	}
	return headline{lead: "By the metadata this key has several owners:", shards: e.belongs}
}

// ownedByMissing is the headline of a thing that belongs on shards of which the cluster does not have some.
func (e rowEvidence) ownedByMissing(key bool) headline {
	what := "It is"
	switch {
	case !key && !e.exact:
		what = "Its rows are"
	case key && e.exact:
		what = "This key is"
	case key:
		what = "Rows with this key are"
	}
	if len(e.missing) == len(e.belongs) {
		return headline{lead: what + " owned by", shards: e.missing, end: ", which the cluster does not have"}
	}
	return headline{lead: what + " owned by some of", shards: e.belongs,
		end: "; the cluster does not have " + format.JoinWords(answer.Map(e.missing, sanitize.Line))}
}

const noShard = "No shard is known to hold it"

func countRows(n int64) string { return format.Count(n) + message.Plural(n, " row", " rows") }

// unasked is the beginning of the headline when no row was counted.
func (e rowEvidence) unasked(it api.LocateItem) string {
	switch {
	case len(e.belongs) == 0:
		return noShard
	case slices.ContainsFunc(it.Notes, func(n api.Note) bool { return n.Code == placement.NoteRowGone }):
		return "Its rows would be on"
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
	switch f.Reason {
	case "notTargeted":
		return "a count would ask every shard"
	case "notPermitted":
		return "the cluster user is not permitted to read it"
	case "unreachable":
		return "the cluster did not answer"
	}
	return topology.ReasonText(f.Reason)
}

func collectionName(ns string) string {
	_, name, _ := strings.Cut(ns, ".")
	return name
}

// applyCount makes a place say of its rows what was counted.
func applyCount(p *api.Place) {
	if p.Rows == nil || p.Rows.Value == nil || p.State == "absent" {
		return
	}
	there := *p.Rows.Value > 0
	p.Exists = &there
	p.State = "would-be"
	if there {
		p.State = "yes"
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
	return countRows(*f.Value) + " counted there"
}
