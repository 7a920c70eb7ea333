package locate

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// bulkView is a row for each answer to each line.
func bulkView(v answer.View, lines []api.LocateLine) templates.Bulk {
	m := templates.Bulk{Asked: true}
	r := parts.RefsOf(v.Table)
	found, targeted, broadcast := 0, 0, 0
	for _, line := range lines {
		targeted, broadcast = targeted+line.Cost.Targeted, broadcast+line.Cost.Broadcast
		rows := bulkRows(r, line)
		if line.Problem == nil {
			found++
		}
		m.Rows = append(m.Rows, rows...)
	}
	m.Summary = words.T("bulk.summary", "n", format.Count(int64(len(lines))), "found", format.Count(int64(found)),
		"cost", words.T("locate.cost", "targeted", words.Plural("locate.targeted", int64(targeted), "n", format.Count(int64(targeted))),
			"broadcast", words.Plural("locate.broadcast", int64(broadcast), "n", format.Count(int64(broadcast)))))
	return m
}

func bulkRows(r parts.Refs, line api.LocateLine) []templates.BulkRow {
	first := templates.BulkRow{Line: strconv.Itoa(line.Line), Query: templates.Cut(line.Query, answer.QueryDigits)}
	if line.Query == "" {
		first.Query = templates.Cut(words.T("bulk.silent"), answer.QueryDigits)
	} else if len(line.Query) < 1000 {
		first.URL = "/locate?q=" + url.QueryEscape(line.Query)
	}
	switch {
	case line.Problem != nil:
		first.Problem = line.Problem.Detail
		return []templates.BulkRow{first}
	case len(line.Items) == 0:
		first.Problem = words.T("bulk.noCollection")
		if len(line.Anatomy) > 0 {
			first.Problem = words.Code("id.kind", line.Anatomy[0].Kind, nil) + ": " + first.Problem
		}
		return []templates.BulkRow{first}
	}
	var out []templates.BulkRow
	for i, it := range line.Items {
		row := first
		if i > 0 {
			row.Line = ""
		}
		row.Kind, row.Name = words.Code("kind", it.Kind, nil), templates.Cut(it.Name, answer.QueryDigits)
		if it.Kind != "project" {
			row.Project = it.ProjectName
			if row.Project == "" {
				row.Project = it.Project
			}
		}
		on, exact := map[string]bool{}, true
		for _, p := range it.Places {
			if p.State == "absent" {
				continue
			}
			exact = exact && p.Exact
			for _, shard := range p.Shards {
				on[shard] = true
			}
		}
		for _, shard := range slices.Sorted(maps.Keys(on)) {
			row.Shards = append(row.Shards, r.Of(shard))
		}
		switch {
		case len(row.Shards) == 0:
			row.Spread = words.T("locate.answer.none")
		case !exact:
			row.Spread = words.T("place.any")
		}
		out = append(out, row)
	}
	return out
}
