package parts

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

func RoleWord(role auth.Role) string { return words.Code("role", string(role), nil) }

// hiddenBound is a bound on a page that hides it.
func hiddenBound() templates.Key {
	return templates.Key{Short: shardkey.HiddenText, Full: shardkey.HiddenText}
}

// foldedNote says how many entries or collections were left out, with the link
// that shows them, or that they are there. address is the page's own; what is
// entries, moves or collections.
func FoldedNote(what, address string, n int, shown bool) *templates.Folded {
	u, err := url.Parse(address)
	if err != nil || n == 0 && !shown {
		return nil
	}
	q := u.Query()
	q.Del("page")
	out := &templates.Folded{Title: "Internal collections are the server's own: the databases config, admin and local, and system collections. A new cluster moves config.system.sessions a thousand times in its first hour."}
	if shown {
		// An explicit 0: what a page carries along would put the switch back.
		q.Set(answer.InternalParam, "0")
		out.Text, out.Link = words.T("internal."+what+".with"), "hide"
	} else {
		q.Set(answer.InternalParam, "1")
		out.Text, out.Link = words.Plural("internal."+what, int64(n), "n", format.Count(int64(n))), "show"
	}
	u.RawQuery = q.Encode()
	out.URL = u.String()
	return out
}

// deed is the beginning of the audit entry of what somebody does.
func Deed(r *http.Request) store.AuditEntry {
	who := auth.From(r.Context())
	return store.AuditEntry{By: who.ID, Via: string(who.Method), From: who.From}
}

// shardOptions is a select of shards with "any" first.
func ShardOptions(t *topology.Table, selected string) []templates.Option {
	out := []templates.Option{{Text: "any", Selected: selected == ""}}
	for _, s := range t.Shards {
		out = append(out, templates.Option{Value: s.Name, Text: s.Name, Selected: s.Name == selected})
	}
	return out
}

// chunkRow is one chunk for a table.
func ChunkRow(v answer.View, p shardkey.Pattern, i int, ch topology.Chunk, r Refs) templates.ChunkRow {
	row := templates.ChunkRow{
		Key: answer.ChunkKey(p, ch.Min), N: i + 1, Shard: r.Of(ch.Shard), Jumbo: ch.Jumbo,
		Min: Bound(p, ch.Min), Max: Bound(p, ch.Max),
		Version: format.Version(ch.Version.Major, ch.Version.Minor),
	}
	if ch.Since.T == 0 {
		row.Since = templates.Moment{Text: format.Unknown}
	} else {
		row.Since = templates.Ago(time.Unix(int64(ch.Since.T), 0), v.Now)
	}
	return row
}

// changedLine is of rows that are changed in place: at least so many. Where none
// were counted, nothing is known, and nothing is said.
func ChangedLine(out templates.HeatLine, v answer.View, prof *profile.Profile, w heat.Window, chunk int, span []string) templates.HeatLine {
	rate := w.Total
	if chunk >= 0 {
		rate = heat.Rate{}
		for _, l := range w.Chunks(v.Table, prof) {
			if l.Chunk == chunk {
				rate = l.Rate
			}
		}
	}
	if rate.Rows == 0 {
		return templates.HeatLine{}
	}
	out.Text = words.T("heat.line.changed", append(span, "rate", answer.RateText(rate))...)
	return out
}

// surveyForm is what a reader may start.
func SurveyForm(there bool, who auth.Principal) templates.SurveyForm {
	may := who.May(auth.Operator)
	f := templates.SurveyForm{May: there && may}
	if !may {
		f.Needs = "Measuring costs the cluster reads; starting it needs the role " + RoleWord(auth.Operator) + "."
	}
	return f
}

// estimate writes a figure with its interval: a number that is only known to an
// extent never stands alone.
func Estimate(e survey.Estimate, write func(int64) string) templates.Figure {
	switch {
	case e.AtLeast:
		return templates.Figure{Known: true, Text: "≥ " + write(e.Value), Title: "Counting ended before the last row."}
	case e.Exact:
		return templates.Figure{Known: true, Text: write(e.Value), Title: "Counted exactly."}
	case e.Value == 0:
		return templates.Figure{Known: true, Text: "≤ " + write(e.High), Title: "Not one row was seen; with so many drawn there are at most " + write(e.High) + " in 95 of 100 cases."}
	}
	return templates.Figure{Known: true, Approx: true,
		Text:  fmt.Sprintf("%s ± %s", write(e.Value), write(max(e.High-e.Value, e.Value-e.Low))),
		Title: fmt.Sprintf("The truth is between %s and %s in 95 of 100 cases.", write(e.Low), write(e.High))}
}

func SurveyShards(r Refs, l survey.Line) []templates.ShardRef {
	var out []templates.ShardRef
	for _, s := range l.Shards {
		if s.Shard != "" {
			out = append(out, r.Of(s.Shard))
		}
	}
	return out
}

// surveyPanel is what is known of one project's sizes.
func SurveyPanel(v answer.View, found []survey.Finding, pr placement.Project) templates.SurveyPanel {
	m := templates.SurveyPanel{There: true}
	r := RefsOf(v.Table)
	for _, f := range found {
		name := f.Collection.NS.Collection()
		row := templates.SurveyPanelRow{
			Collection: name, URL: "/surveys/" + f.Survey, At: templates.Ago(f.Collection.At, v.Now), Problem: f.Collection.Problem,
			How: words.Code("survey.short", f.Collection.Method, nil),
		}
		rows, bytes := answer.FindingWeight(f)
		if rows == nil {
			row.Rows = templates.Figure{Text: "not measured"}
			row.Bytes = row.Rows
		} else {
			row.Rows, row.Bytes = Estimate(*rows, format.Count), Estimate(*bytes, format.Bytes)
		}
		if f.Line != nil {
			row.Shards = SurveyShards(r, *f.Line)
			if d := f.Line.Dead; d != nil {
				m.Dead = append(m.Dead, templates.SurveyDeadRow{
					What: words.Code("survey.dead", name, nil), Why: words.Code("survey.dead.why", name, nil), At: row.At,
					Rows: Estimate(d.Rows, format.Count), Bytes: Estimate(d.Bytes, format.Bytes),
				})
			}
		}
		m.Rows = append(m.Rows, row)
	}
	m.Start = templates.SurveyForm{Project: pr.ID.Hex(), DB: pr.DB}
	return m
}

// whyProject draws a project's own chunks with the decision on each.
func WhyProject(v answer.View, spread placement.Spread) templates.WhyProject {
	var m templates.WhyProject
	r := RefsOf(v.Table)
	rows := answer.ProjectWhy(v.Table, spread)
	slices.SortStableFunc(rows, func(a, b api.CollectionWhy) int {
		return cmp.Or(cmp.Compare(min(len(b.Chunks), 1), min(len(a.Chunks), 1)), cmp.Compare(a.Basis, b.Basis))
	})
	for _, c := range rows {
		ns := topology.Namespace(c.NS)
		row := templates.WhyCollection{NS: c.NS, Name: ns.Collection(), Text: c.Text, More: c.Of - len(c.Chunks)}
		if len(c.Chunks) == 0 {
			row.More = 0
			// What holds for several collections is said once.
			if n := len(m.Collections); n > 0 && len(m.Collections[n-1].Chunks) == 0 && m.Collections[n-1].Text == c.Text {
				m.Collections[n-1].Name += ", " + row.Name
				continue
			}
		}
		for _, k := range c.Chunks {
			row.Chunks = append(row.Chunks, templates.WhyProjectChunk{
				Title: strings.TrimSpace(fmt.Sprintf("Chunk %s of %s", strconv.Itoa(k.Chunk.Number), format.Count(int64(k.Chunk.Of)))),
				URL:   answer.ChunkURL(ns, k.Chunk.Ref), Shard: r.Of(k.Chunk.Shard), Text: k.Balance.Text,
			})
		}
		m.Collections = append(m.Collections, row)
	}
	return m
}
