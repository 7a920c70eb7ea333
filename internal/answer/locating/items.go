package locating

import (
	"net/url"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
)

func locateItemOf(it placement.Item) api.LocateItem {
	out := api.LocateItem{
		Kind: it.Kind, ID: it.ID, Name: it.Name, DB: it.DB, Removed: it.Removed, Places: []api.Place{}, Notes: notesOf(it.Notes),
	}
	if it.Project != nil {
		out.Project, out.ProjectName = it.Project.ID.Hex(), it.Project.Name
		if it.Project.Stored != "" {
			out.StoredProject = it.Project.IDText()
		}
	}
	for _, p := range it.Places {
		out.Places = append(out.Places, placeOf(p))
	}
	out.Shards, out.Exact = belongsOn(out)
	return out
}

func placeOf(p placement.Place) api.Place {
	out := api.Place{
		NS: string(p.NS), What: p.What, Sharded: p.Sharded, Shards: answer.NotNil(p.Shards), Exact: p.Exact, Chunks: p.Chunks,
		Min: answer.KeyOf(p.Pattern, p.Min), Max: answer.KeyOf(p.Pattern, p.Max), Key: answer.KeyOf(p.Pattern, p.Key),
		Version: data.VersionOf(p.Version), Since: api.Instant(p.Since), Zone: p.Zone, Jumbo: p.Jumbo, State: p.Exists,
		URL: placeURL(p), Hash: answer.DecimalOrNull(p.Hash), MissingShards: p.Missing,
	}
	if p.Damage != nil {
		out.Damage = data.DamageOf(p.Damage)
	}
	if !p.Min.IsZero() {
		out.From, out.To = answer.BoundText(p.Pattern, p.Min), answer.BoundText(p.Pattern, p.Max)
	}
	if len(p.Shards) == 1 {
		out.Shard = p.Shards[0]
	}
	switch yes, no := true, false; p.Exists {
	case "yes":
		out.Exists = &yes
	case "absent":
		out.Exists = &no
	}
	return out
}

// placeURL is the page of a place's collection; its chunk table is filtered by the
// first field of the key if that is a value that the filter takes.
func placeURL(p placement.Place) string {
	if !p.Sharded {
		return ""
	}
	address := answer.CollectionURL(p.NS)
	if p.Key.IsZero() || p.Pattern.IsZero() {
		return address
	}
	values, err := p.Pattern.Values(p.Key)
	if err != nil || len(values) == 0 || values[0].Type != bson.TypeObjectID && values[0].Type != bson.TypeInt64 {
		return address
	}
	return address + "?key=" + url.QueryEscape(shardkey.PlainValue(values[0])) + "#chunks"
}

// nameBounds puts projects' names to the bounds of the places' chunks, and to their zones.
func nameBounds(v answer.View, items []api.LocateItem) {
	for i := range items {
		for n := range items[i].Places {
			p := &items[i].Places[n]
			p.OfMin, p.OfMax = v.ProjectsOfBounds(p.NS, p.Min, p.Max)
			p.ZoneShown = v.ZoneName(p.Zone)
		}
	}
}
