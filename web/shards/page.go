// Package shards shows one shard: what is on it, and who is affected if it goes down.
package shards

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/shares"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// projectsListed is how many projects the page lists; the CSV has all.
const projectsListed = 50

func page(s *site.Site, w http.ResponseWriter, r *http.Request, v answer.View, name string) (err error) {
	if v.Internal, err = answer.ParseInternal(r.URL.Query()); err != nil {
		return err
	}
	var shown int
	if err := (param.List{param.Page(&shown, "")}).Read(r.URL.Query()); err != nil {
		return err
	}
	content, err := Region(s, v, name, shown)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "shards", name, "shard:"+name)
	return site.WritePage(w, r, http.StatusOK, shardPage(sh, content, s.Offers(r, v.Table).Shard(name)))
}

// Region is the part of a shard's page that is updated live, with a page of the collections on it.
func Region(s *site.Site, v answer.View, name string, page int) (templ.Component, error) {
	a, err := shares.Shard(v, s.Deps.Cluster.Profile, name, v.Internal)
	if err != nil {
		return nil, err
	}
	n := len(a.Contents)
	page, from, to := answer.PageOf(n, page)
	a.Contents = a.Contents[from:to]
	m := moves{
		Damaged:   data.DamagedNotes(v.Table),
		Incidents: problems.IncidentsOfShard(v, name, s.Tries(v)), MayPlan: s.Deps.Changes.PlanForms,
		Moving: logbook.MovingNow(v, v.Table.MovingOn(name), logbook.FlightsListed),
		Failed: logbook.FailedMoves(v, v.Internal, logbook.ActivityQuery{Shard: name},
			func(x history.Migration) bool { return x.From == name || x.To == name }),
	}
	if n > answer.PageRows {
		m.Pager = templates.PagerOf(n, page, func(page int) string { return answer.ShardPageURL(name, v.Internal, page) })
	}
	if v.Internal || page > 1 {
		m.LiveURL = answer.ShardPageURL(name, v.Internal, page)
	}
	q := shares.ShardWhyQuery{Shard: name, By: data.OfBytes, Limit: partsListed, Brief: true}
	if m.Why, err = shares.ShardWhy(v, writes.HeatSource{}, q); err != nil {
		return nil, err
	}
	return region(v, a, m, templates.RefsOf(v.Table)), nil
}

// moves is what moves to and from the shard, and why it has as much as it has.
type moves struct {
	Incidents []api.Incident
	MayPlan   bool // plans can be made here
	LiveURL   string
	Pager     templates.Pager // of the collections on it
	Moving    api.MovingNow
	Failed    api.FailedMoves
	Why       api.ShardWhy
	Damaged   []api.State // collections that are not listed
}

// measures are the overview's bars with the words of one shard only.
func measures(a api.ShardDetail, refs templates.Refs) []templates.Measure {
	all := templates.Measures(a.All, refs, a.Name)
	for i := range all {
		for j := range all[i].Parts {
			if p := &all[i].Parts[j]; p.Shard.Name != a.Name {
				p.Shard.Swatch, p.Label = templates.Swatch{}, ""
			} else if p.Label != "" {
				p.Label = format.Share(p.Share)
			}
		}
	}
	return all
}

// writesFact is what was counted on a shard, with its share of all.
func writesFact(a api.ShardDetail, over string) templates.Fact {
	out := templates.Fact{Name: "Writes", Figure: templates.Figure{Text: format.Unknown, Title: topology.ReasonText(a.Writes.Reason)}}
	if w := a.Writes; w.Value != nil {
		out.Figure = templates.Figure{Known: true, Approx: !w.Exact && !w.AtLeast, Text: format.PerSecond(*w.Value) + "/s"}
		if w.AtLeast {
			out.Text = "≥\u202f" + out.Text
		}
		if a.WriteShare != nil {
			out.Text += ", " + format.Share(*a.WriteShare) + " of all counted"
		}
		if out.Text += ", in " + over; w.At != nil {
			out.Text += " before " + format.Clock(*w.At)
		}
	}
	return out
}

// operationsFacts are the reads and writes by the server's own counters.
func operationsFacts(o api.ShardOperations) []templates.Fact {
	one := func(name string, perSecond, ms *float64) templates.Fact {
		out := templates.Fact{Name: name, Figure: templates.Figure{Text: format.Unknown,
			Title: "The server's counters have not been read twice since its primary was elected, the last read failed, or " +
				"writes are not counted here."}}
		if perSecond == nil {
			return out
		}
		out.Figure = templates.Figure{Known: true, Text: format.PerSecond(*perSecond) + "/s"}
		if ms != nil {
			out.Text += ", " + format.Millis(*ms) + " each"
		}
		return out
	}
	reads := one("Read operations", o.ReadsPerSecond, o.ReadMillis)
	if o.ReadShare != nil {
		reads.Text += ", " + format.Share(*o.ReadShare) + " of them in " + topology.Namespace(o.MostRead).Collection()
	}
	return []templates.Fact{reads, one("Write operations", o.WritesPerSecond, o.WriteMillis)}
}

// operationsNote says what the counters are of.
func operationsNote(o api.ShardOperations) string {
	if o.From == nil || o.To == nil {
		return ""
	}
	return "Operations are by the shard's own counters from " + format.Clock(*o.From) + " to " + format.Clock(*o.To) +
		", of all programs. Servers count by collection: which project reads is not known."
}

// activity is how busy the shard is; nothing of a past time, of which it is not kept.
func activity(v answer.View, a api.ShardDetail) []templates.Fact {
	if v.Past != nil {
		return nil
	}
	return append([]templates.Fact{writesFact(a, v.LastWrites())}, operationsFacts(a.Operations)...)
}

func facts(v answer.View, a api.ShardDetail) []templates.Fact {
	list := func(names []string) templates.Figure {
		return templates.Figure{Known: len(names) > 0, Text: templates.List(names)}
	}
	return append(activity(v, a), []templates.Fact{
		{Name: "Replica set", Figure: templates.Figure{Known: true, Text: a.ReplSet}},
		templates.DiskFact(a.Disk),
		{Name: "Hosts", Figure: templates.Figure{Known: true, Text: hosts(a)}, Mono: true},
		answers(a.Answering),
		{Name: "Zones", Figure: list(a.Zones), Zones: a.ZonesShown},
		templates.OrphansFact(a.Orphans),
		{Name: "Primary of", Figure: list(a.PrimaryOf)},
	}...)
}

// shareCell is a figure with its share of the whole collection: 100 % means that
// nothing of it is elsewhere.
func shareCell(f templates.Figure, share *float64) templates.Cell {
	if share == nil {
		return templates.Cell{Figure: f, Share: -1, Even: -1}
	}
	return templates.Cell{Figure: f, Share: *share, Bar: *share, ShareText: format.Share(*share), Even: -1}
}

func chunksCell(c api.ShardCollection) templates.Cell {
	if !c.Sharded {
		return templates.Cell{Figure: templates.Figure{Text: format.Unknown}, Share: -1}
	}
	return shareCell(templates.Exact(c.Chunks), c.Share)
}

// split names the collections of which a shard has all of a project's chunks, and
// those of which it has some.
func split(p api.ShardProject) (whole, part []string) {
	for _, c := range p.Collections {
		name := topology.Namespace(c.NS).Collection()
		if c.Chunks == c.Of {
			whole = append(whole, name)
		} else {
			part = append(part, fmt.Sprintf("%s (%s of %s chunks)", name, format.Count(int64(c.Chunks)), format.Count(int64(c.Of))))
		}
	}
	return whole, part
}

// rowShare is the part of a project's own rows that is on the shard.
func rowShare(s api.RowShare) templates.Figure {
	if s.Low == nil || s.High == nil {
		return templates.Figure{Text: topology.ReasonText(s.Reason), Title: topology.ReasonDetail(s.Reason)}
	}
	low, high := format.Share(*s.Low), format.Share(*s.High)
	out := templates.Figure{Known: true, Text: low, Title: topology.MethodText(s.Method), Approx: !s.Exact}
	if low != high {
		out.Text, out.Approx = low+" to "+high, false
	}
	if s.At != nil && !s.Exact {
		out.Title += " at " + format.Clock(*s.At)
	}
	return out
}

// hosts are the members as mongos sees them, or the addresses where that is not known.
func hosts(a api.ShardDetail) string {
	if len(a.Answering.Members) == 0 {
		return strings.Join(a.Hosts, ", ")
	}
	var out []string
	for _, m := range a.Answering.Members {
		text := m.Address + ", " + m.State
		if m.State == "away" && m.Since != nil {
			text = m.Address + ", not reached since " + format.Clock(*m.Since)
		} else if m.PingMs != nil {
			text += fmt.Sprintf(" (%.1f ms)", *m.PingMs)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// answers is whether a shard answers.
func answers(a api.Answering) templates.Fact {
	out := templates.Fact{Name: "Answers", Figure: templates.Figure{Known: true, Text: "yes"}}
	switch {
	case a.State == "silent" && a.Since != nil:
		out.Text, out.Warn = "not since "+format.Clock(*a.Since), true
	case a.State != "answers":
		out.Figure = templates.Figure{Text: format.Unknown, Title: a.Reason}
	}
	return out
}
