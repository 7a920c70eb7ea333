package storybook

import (
	"time"

	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// keyComponents are the components that name something of the cluster: a key, a range, a zone, a person.
func keyComponents() []component {
	return append(tourComponents(), []component{
		{"component-keys", keyVariants()},
		{"component-ranges", rangeVariants()},
		{"component-zones", zoneVariants()},
		{"component-pins", pinVariants()},
		{"component-causes", causeVariants()},
		{"component-links", linkVariants()},
		{"component-measures", measureVariants()},
	}...)
}

// ownersOfKeys are the projects that stand beside keys.
func ownersOfKeys() []api.KeyProject {
	id := webtest.ProjectID(3).Hex()
	return []api.KeyProject{
		{}, {Project: id, ProjectName: "atlas-board"}, {Project: id}, {Project: id, Unlisted: true},
		{Project: id, ProjectName: longText}, {Project: id, ProjectName: webtest.HostileName},
	}
}

func ownerName(p api.KeyProject) string {
	switch {
	case p.Project == "":
		return "of no project"
	case p.Unlisted:
		return "of a project that is gone"
	case p.ProjectName == "":
		return "of a project without a name"
	case p.ProjectName == longText:
		return "of a project with a long name"
	case p.ProjectName == webtest.HostileName:
		return "of a project with a hostile name"
	}
	return "of a project"
}

func keyVariants() []variant {
	out := []variant{
		{"short", templates.KeyText(templates.Cut("4711", 40))},
		{"long", templates.KeyText(templates.Cut(longText, 40))},
		{"hostile", templates.KeyText(templates.Cut(webtest.HostileName, 40))},
		{"unknown", templates.KeyText(templates.Key{})},
		{"id of an issuer", templates.IssuersID("auth0|5f7c8ec7c33c6c004bbafe82")},
		{"hostile id of an issuer", templates.IssuersID(webtest.HostileName)},
	}
	for _, p := range ownersOfKeys() {
		out = append(out, variant{"bound " + ownerName(p), templates.Bound(p.Project+", 017f22e2-79b0-7cc3-98c4-dc0c0c07398f", p)})
	}
	return out
}

func rangeVariants() (out []variant) {
	for _, p := range ownersOfKeys() {
		r := api.RangeShown{Min: "MinKey", Max: p.Project + ", MinKey", From: p, Until: p, URL: "/collections/yorkie-meta.changes"}
		out = append(out, variant{"range " + ownerName(p), templates.RangeText(r)},
			variant{"collection and range " + ownerName(p), templates.RangeLink("yorkie-meta.changes", r)})
	}
	return append(out, variant{"bounds not known", templates.RangeText(api.RangeShown{})},
		variant{"collection without a page", templates.RangeLink("config.system.sessions", api.RangeShown{})})
}

func zoneVariants() []variant {
	out := []variant{
		{"named by people", templates.Zone(api.ZoneName{Zone: "eu-west"})},
		{"long", templates.Zone(api.ZoneName{Zone: longText})},
		{"hostile", templates.Zone(api.ZoneName{Zone: webtest.HostileName})},
	}
	for _, p := range ownersOfKeys()[1:] {
		for _, kind := range []string{"pin", "others of"} {
			out = append(out, variant{kind + " " + ownerName(p), templates.Zone(api.ZoneName{Zone: "pin-" + p.Project, Kind: kind, KeyProject: p})})
		}
	}
	return out
}

func pinVariants() []variant {
	at := func(d time.Duration) *time.Time { t := webtest.Epoch.Add(d); return &t }
	owner := func(s string) *string { return &s }
	return []variant{
		{"with an end and an owner", templates.PinTerms(api.PinTerms{Pinned: true, Expires: at(48 * time.Hour), Owner: owner("team storage")})},
		{"expired", templates.PinTerms(api.PinTerms{Pinned: true, Expires: at(-48 * time.Hour), Owner: owner("team storage")})},
		{"without an end", templates.PinTerms(api.PinTerms{Pinned: true, Owner: owner("anna")})},
		{"not known", templates.PinTerms(api.PinTerms{Pinned: true})},
		{"long owner", templates.PinTerms(api.PinTerms{Pinned: true, Expires: at(time.Hour), Owner: owner(longText)})},
		{"hostile owner", templates.PinTerms(api.PinTerms{Pinned: true, Expires: at(time.Hour), Owner: owner(webtest.HostileName)})},
	}
}

func causeVariants() (out []variant) {
	for _, c := range []api.Cause{
		{By: "ours", Run: webtest.RecordID("succeeded"), Label: "anna’s run", Evidence: "The run's own record."},
		{By: "balancer", Label: "the balancer", Evidence: "The entry says so.", Inferred: true},
		{By: "notOurs", Label: "somebody else", Evidence: "No run of ours did it."},
		{By: "unknown"},
		{By: "ours", Run: "x", Label: longText, Evidence: longText},
		{By: "notOurs", Label: webtest.HostileName, Evidence: webtest.HostileName},
	} {
		out = append(out, variant{c.By, templates.WhoAsked(c)})
	}
	for _, f := range []api.FailureReason{
		{Reason: webtest.OrphansReason, ReasonFrom: "moveChunk.to", Brief: "The target still deletes orphans."},
		{Reason: webtest.OrphansReason, ReasonFrom: "run"},
		{Reason: webtest.HostileName, ReasonFrom: "moveChunk.to", Brief: webtest.HostileName},
	} {
		out = append(out, variant{"why a move failed, from " + f.ReasonFrom, templates.FailureText(f)})
	}
	return out
}

func linkVariants() []variant {
	return []variant{
		{"with an address", templates.Linked("/zones", "All zones", "zones")},
		{"without an address", templates.Linked("", "Hidden from your role", "a chunk")},
		{"hostile", templates.Linked("/zones", webtest.HostileName, webtest.HostileName)},
		{"internal entries left out", templates.FoldedNote("entries", "/activity", 1204, false)},
		{"internal entries shown", templates.FoldedNote("entries", "/activity", 1204, true)},
		{"sentence about writes", templates.HeatSentence("yorkie-meta.changes",
			message.New("storybook.heat", "{n} writes/s in the last 5 minutes.", message.Count("n", 1260)), webtest.Epoch)},
		{"offers after a warning", templates.OffersWithLead("The balancer is busy.", []api.Offer{{Text: "Split chunk 3…", URL: "/plans/new"}})},
	}
}

func measureVariants() []variant {
	parts := func(shares ...float64) (out []templates.Part) {
		refs, from := shardsOf(len(shares)), 0.0
		for i, share := range shares {
			out = append(out, templates.Part{Shard: refs[i], From: from, Share: share, Title: refs[i].Name})
			from += share
		}
		return out
	}
	even := make([]float64, 100)
	for i := range even {
		even[i] = .01
	}
	total := templates.Bytes(known(12 << 30))
	return []variant{
		{"uneven", templates.Stack(templates.Measure{Name: "Data", Total: total, Parts: parts(.7, .2, .1), Label: "shard-rs-1 70 %, …"})},
		{"100 shards", templates.Stack(templates.Measure{Name: "Data", Total: total, Parts: parts(even...), Label: "100 shards, 1 % each"})},
		{"in a cell", inTable(templates.StackCell(templates.Measure{Parts: parts(.7, .2, .1), Label: "shard-rs-1 70 %, …"}))},
		{"one shard", templates.Stack(templates.Measure{Name: "Data", Total: total, Parts: parts(1), Label: "all on shard-rs-1"})},
		{"not known", templates.Stack(templates.Measure{Name: "Data", Total: templates.Bytes(api.Figure{Reason: "notPermitted"}),
			Why: "Not permitted to read sizes."})},
		{"long", templates.Stack(templates.Measure{Name: longText, Total: total, Parts: parts(.5, .5), Label: longText})},
		{"hostile", templates.Stack(templates.Measure{Name: webtest.HostileName, Total: total, Parts: parts(.5, .5),
			Label: webtest.HostileName})},
		{"bar", inTable(templates.Bar(shardsOf(1)[0].Swatch, .4, .25))}, {"full bar", inTable(templates.Bar(shardsOf(1)[0].Swatch, 1, -1))},
		{"select", choices([]templates.Option{{Value: "a", Text: "All"}, {Value: "b", Text: longText, Selected: true},
			{Value: "c", Text: webtest.HostileName}})},
	}
}
