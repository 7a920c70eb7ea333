package data

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/profile"
)

// layoutVerdict answers "is it sharded as the schema means it to be?".
func layoutVerdict(d profile.Drift) message.Message {
	db, layout := message.Text("db", d.DB), message.Words("layout", d.Layout.Name)
	switch n := d.Looks(); {
	case d.Older:
		return message.New("layout.newer", "{db} is sharded like a newer layout than {layout}", db, layout)
	case n > 0:
		return message.New("layout.differs", message.Plural(n, "{db}: {n} collection is not sharded like {layout}",
			"{db}: {n} collections are not sharded like {layout}"),
			db, layout, message.Count("n", n))
	}
	return message.New("layout.same", "{db} is sharded like {layout}", db, layout)
}

// layoutDetail says which layout that is, and what the verdict could not see.
func layoutDetail(d profile.Drift) (out []message.Message) {
	switch {
	case d.Layout.Name != d.Nearest:
		out = append(out, message.New("layout.chosen", "Compared with {layout}, as chosen; the nearest layout is {nearest}.",
			message.Words("layout", d.Layout.Name), message.Words("nearest", d.Nearest)))
	case len(d.Scores) > 1:
		out = append(out, message.New("layout.nearest", "The nearest of {n} known layouts, going by shard keys first and "+
			"by which collections exist. Choose another to compare with it.",
			message.Count("n", len(d.Scores))))
	}
	if !d.Actual.Listed {
		out = append(out, message.New("layout.unlisted", "Which collections exist without being sharded is not known: "+
			"listing collections is not permitted or not done yet."))
	}
	return out
}

func layoutFinding(f profile.Finding) api.LayoutFinding {
	return api.LayoutFinding{
		Code: f.Code, NS: string(f.NS), Key: answer.TextOrNull(f.Have), Expected: answer.TextOrNull(f.Want), Look: f.Look,
		Layout: f.Layout, Variant: f.Variant, Means: f.Means(), Todo: f.Todo(), Fix: f.Fix.Code, Commands: answer.NotNil(f.Fix.Commands),
		Name: f.NS.Collection(), Label: f.Label(),
	}
}

// groupedFindings puts absent collections together, as the same holds for all of
// them, and first what needs attention.
func groupedFindings(list []profile.Finding) []api.LayoutFinding {
	var out []api.LayoutFinding
	var names []string
	absent := -1
	for _, f := range list {
		one := layoutFinding(f)
		if f.Code != profile.FindMissing {
			out = append(out, one)
			continue
		}
		names = append(names, f.NS.Collection())
		if absent < 0 {
			absent = len(out)
			out = append(out, one)
			continue
		}
		all := &out[absent]
		all.Name = format.JoinWords(names)
		all.Means = f.MeansFor(all.Name)
		all.Commands = append(slices.Clip(all.Commands), one.Commands...)
	}
	slices.SortStableFunc(out, func(a, b api.LayoutFinding) int {
		switch {
		case a.Look == b.Look:
			return 0
		case a.Look:
			return -1
		}
		return 1
	})
	return out
}
