package web

import (
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/placement"
)

// LocateItems are located things in the API's form; the command line prints
// the same.
func LocateItems(found []placement.Item) []api.LocateItem {
	items := make([]api.LocateItem, 0, len(found))
	for _, it := range found {
		items = append(items, locateItemOf(it))
	}
	return items
}

func locateItemOf(it placement.Item) api.LocateItem {
	out := api.LocateItem{
		Kind: it.Kind, ID: it.ID, Name: it.Name, DB: it.DB, Removed: it.Removed, Places: []api.Place{},
	}
	if it.Project != nil {
		out.Project, out.ProjectName = it.Project.ID.Hex(), it.Project.Name
	}
	for _, p := range it.Places {
		out.Places = append(out.Places, placeOf(p))
	}
	for _, n := range it.Notes {
		out.Notes = append(out.Notes, api.Note(n))
	}
	return out
}

func placeOf(p placement.Place) api.Place {
	out := api.Place{
		NS: string(p.NS), What: p.What, Sharded: p.Sharded, Shards: notNil(p.Shards), Exact: p.Exact, Chunks: p.Chunks,
		Min: keyOf(p.Pattern, p.Min), Max: keyOf(p.Pattern, p.Max), Key: keyOf(p.Pattern, p.Key),
		Version: versionOf(p.Version), Since: api.Instant(p.Since), Zone: p.Zone, Jumbo: p.Jumbo, State: p.Exists,
	}
	if len(p.Shards) == 1 {
		out.Shard = p.Shards[0]
	}
	if p.Hash != nil {
		text := strconv.FormatInt(*p.Hash, 10)
		out.Hash = &text
	}
	switch yes, no := true, false; p.Exists {
	case "yes":
		out.Exists = &yes
	case "absent":
		out.Exists = &no
	}
	return out
}
