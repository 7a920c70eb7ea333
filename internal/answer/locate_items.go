package answer

import (
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/placement/ids"
)

// LocateAnswer is an answer in the API's form, but for its age; the command
// line prints the same.
func LocateAnswer(a placement.Answer) api.LocateAnswer {
	out := api.LocateAnswer{
		Items: LocateItems(a.Items), Input: []api.Reading{}, Anatomy: []api.Anatomy{},
		Cost: api.LocateCost{Targeted: a.Cost.Targeted, Broadcast: a.Cost.Broadcast},
	}
	for _, r := range a.Input.Readings {
		out.Input = append(out.Input, readingOf(r, Silent(a)))
	}
	for _, one := range a.Anatomy {
		out.Anatomy = append(out.Anatomy, anatomyOf(one))
	}
	return out
}

// silent tells that a text must not be repeated: it looks like a project's key
// and is no public one, so it may be a secret one.
func Silent(a placement.Answer) bool { return a.Input.KeyShaped && len(a.Items) == 0 }

func readingOf(r placement.Reading, silent bool) api.Reading {
	out := api.Reading{Form: string(r.Form), Kind: r.Kind}
	if !silent {
		out.Project, out.Key = r.Project, r.Key
	}
	switch {
	case r.UUID != ids.UUID{}:
		out.ID = r.UUID.String()
	case !r.ID.IsZero():
		out.ID = r.ID.Hex()
	}
	if r.Form == placement.FormReference {
		out.Project = r.ProjectID.Hex()
	}
	return out
}

func anatomyOf(a ids.Anatomy) api.Anatomy {
	out := api.Anatomy{Kind: string(a.Kind), ID: a.Text, Parts: []api.IDPart{}, Ranged: a.Ranged, Hashed: a.Hashed}
	if !a.Time.IsZero() {
		out.Time = &a.Time
	}
	for _, p := range a.Parts {
		out.Parts = append(out.Parts, api.IDPart(p))
	}
	for _, n := range a.Notes {
		out.Notes = append(out.Notes, api.Note(n))
	}
	return out
}

// LocateItems are located things in the API's form.
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
	out.Answer = HeadlineOf(out).sentence()
	return out
}

func placeOf(p placement.Place) api.Place {
	out := api.Place{
		NS: string(p.NS), What: p.What, Sharded: p.Sharded, Shards: NotNil(p.Shards), Exact: p.Exact, Chunks: p.Chunks,
		Min: KeyOf(p.Pattern, p.Min), Max: KeyOf(p.Pattern, p.Max), Key: KeyOf(p.Pattern, p.Key),
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
