package locate

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
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
	m.Summary = fmt.Sprintf("%s of %s lines led somewhere. %s", format.Count(int64(found)), format.Count(int64(len(lines))), fmt.Sprintf("Cost: %s, %s.", message.Plural(int64(targeted), format.Count(int64(targeted))+" targeted query", format.Count(int64(targeted))+" targeted queries"), message.Plural(int64(broadcast), format.Count(int64(broadcast))+" to all shards", format.Count(int64(broadcast))+" to all shards")))
	return m
}

func bulkRows(r parts.Refs, line api.LocateLine) []templates.BulkRow {
	first := templates.BulkRow{Line: strconv.Itoa(line.Line), Query: templates.Cut(line.Query, answer.QueryDigits)}
	if line.Query == "" {
		first.Query = templates.Cut("(looks like a key; not repeated)", answer.QueryDigits)
	} else if len(line.Query) < 1000 {
		first.URL = "/locate?q=" + url.QueryEscape(line.Query)
	}
	switch {
	case line.Problem != nil:
		first.Problem = line.Problem.Detail
		return []templates.BulkRow{first}
	case len(line.Items) == 0:
		first.Problem = "no collection by itself; locate it alone with a collection."
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
			row.Spread = "No shard is known to hold it."
		case !exact:
			row.Spread = "any of these"
		}
		out = append(out, row)
	}
	return out
}
