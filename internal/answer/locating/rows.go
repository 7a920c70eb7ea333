package locating

import (
	"strconv"
	"strings"

	"shardboard/internal/api"
)

// LocateColumns are the columns of located lines as CSV.
func LocateColumns() []string {
	return []string{"line", "query", "kind", "id", "name", "project", "project_name",
		"ns", "shard", "shards", "state", "min", "max", "hash", "problem"}
}

// LocateRows are a row for each place of each line's answers.
func LocateRows(lines []api.LocateLine) (rows [][]string) {
	add := func(cells ...string) { rows = append(rows, cells) }
	for _, line := range lines {
		n := strconv.Itoa(line.Line)
		if line.Problem != nil {
			add(n, line.Query, "", "", "", "", "", "", "", "", "", "", "", "", line.Problem.Detail)
			continue
		}
		if len(line.Items) == 0 { // an id that is in no collection by itself
			kind, id := "", ""
			if len(line.Anatomy) > 0 {
				kind, id = line.Anatomy[0].Kind, line.Anatomy[0].ID
			}
			add(n, line.Query, kind, id, "", "", "", "", "", "", "unknown", "", "", "", "")
		}
		for _, it := range line.Items {
			for _, p := range it.Places {
				hash := ""
				if p.Hash != nil {
					hash = *p.Hash
				}
				add(n, line.Query, it.Kind, it.ShownID(), it.Name, it.ShownProject(), it.ProjectName, p.NS, p.Shard,
					strings.Join(p.Shards, " "), p.State, string(p.Min), string(p.Max), hash, "")
			}
		}
	}
	return rows
}
