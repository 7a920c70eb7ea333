package locate

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// locateItems puts what was found into words; told is the same in the API's form,
// with what was asked of the cluster.
func locateItems(v answer.View, items []placement.Item, told []api.LocateItem) []LocateItem {
	r := parts.RefsOf(v.Table)
	out := make([]LocateItem, 0, len(items))
	for i, it := range items {
		m := LocateItem{Kind: words.Code("kind", it.Kind, nil), Name: it.Name, ID: it.ID, DB: it.DB, Removed: it.Removed}
		if it.Kind == "document" && v.Profile != nil && v.Profile.Called.One != "" {
			m.Kind = v.Profile.Called.One
		}
		if it.Kind == "key" {
			m.Name, m.ID = it.ID, ""
		}
		if it.Project != nil && it.Kind != "project" {
			m.Project, m.ProjectURL = answer.NameOf(*it.Project), "/projects/"+it.Project.ID.Hex()
		} else if it.Kind == "project" {
			m.URL = "/projects/" + it.ID
		}
		for _, n := range it.Notes {
			m.Notes = append(m.Notes, words.Code("place", n.Code, n.Args))
		}
		for j, p := range it.Places {
			row := placeRow(v, p, r)
			row.Exists = answer.ThereText(told[i].Places[j])
			m.Places = append(m.Places, row)
			m.Zoned = m.Zoned || p.Zone != ""
			m.Hashed = m.Hashed || p.Hash != nil
		}
		h := answer.HeadlineOf(told[i])
		for _, s := range h.Shards {
			m.Shards = append(m.Shards, r.Of(s))
		}
		m.Answer, m.AnswerEnd = h.Lead, strings.TrimSpace(h.End)
		out = append(out, m)
	}
	return out
}

func placeRow(v answer.View, p placement.Place, r parts.Refs) PlaceRow {
	row := PlaceRow{
		NS: string(p.NS), What: p.NS.Collection(), Exact: p.Exact, Zone: p.Zone, Jumbo: p.Jumbo,
		Exists: words.Code("exists", p.Exists, nil), ExistsBad: p.Exists == "absent",
	}
	for _, s := range p.Shards {
		row.Shards = append(row.Shards, r.Of(s))
	}
	switch {
	case p.Exists == "absent":
	case !p.Sharded:
		row.Certainty = "not sharded, database primary"
	case !p.Exact:
		row.Certainty = "any of these"
	}
	if p.Sharded {
		row.URL = answer.CollectionURL(p.NS)
		if at := answer.PlaceKey(p); at != "" {
			row.URL += "?key=" + url.QueryEscape(at) + "#chunks"
		}
	}
	if x := answer.MovingIn(v, p.NS, answer.PlaceRange(p)); x != nil {
		code := "inflight.locate"
		if p.Key.IsZero() {
			code = "inflight.locate.range"
		}
		row.Moving = words.T(code, "from", x.From, "to", x.To)
	}
	if p.Hash != nil {
		row.Hash = strconv.FormatInt(*p.Hash, 10)
	}
	switch {
	case !p.Min.IsZero():
		row.Min = parts.Bound(p.Pattern, p.Min)
		row.Max = parts.Bound(p.Pattern, p.Max)
		row.Version = format.Version(p.Version.Major, p.Version.Minor)
		row.Since = templates.Moment{Text: format.Unknown}
		if p.Since.T > 0 {
			row.Since = templates.Ago(time.Unix(int64(p.Since.T), 0), v.Now)
		}
	case p.Chunks > 0:
		row.Chunks = message.Plural(int64(p.Chunks), format.Count(int64(p.Chunks))+" chunk can hold it", format.Count(int64(p.Chunks))+" chunks can hold it")
	case !p.Sharded && p.Exists != "absent":
		row.Chunks = "not sharded"
	default:
		row.Chunks = format.Unknown
	}
	if !p.Key.IsZero() && !p.Pattern.IsZero() {
		row.KeyText = parts.Bound(p.Pattern, p.Key)
	}
	return row
}

// locateExamples are questions that have an answer here, made from the
// projects with the most documents.
func locateExamples(v answer.View) []Example {
	all := slices.Clone(v.Dir.All())
	slices.SortStableFunc(all, func(a, b placement.Project) int {
		switch {
		case a.Documents.Value > b.Documents.Value:
			return -1
		case a.Documents.Value < b.Documents.Value:
			return 1
		}
		return 0
	})
	add := func(out []Example, q, code string) []Example {
		return append(out, Example{Text: q, URL: "/locate?q=" + url.QueryEscape(q), What: words.T("example." + code)})
	}
	var out []Example
	for i, p := range all {
		switch i {
		case 0:
			if p.Name != "" {
				out = add(out, p.Name, "name")
			}
		case 1:
			out = add(out, p.ID.Hex(), "id")
		case 2:
			if p.PublicKey != "" {
				out = add(out, p.PublicKey, "key")
			}
		}
	}
	return out
}
