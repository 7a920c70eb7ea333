package collections

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/profile"
	"shardboard/web/words"
)

// together puts findings into words, those of absent collections as one: the
// same holds for all of them.
func together(list []profile.Finding) []LayoutFinding {
	var out []LayoutFinding
	var names []string
	absent := -1
	for _, f := range list {
		one := findingView(f)
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
		all.Name = answer.JoinWords(names)
		all.Means = words.Code("means", f.Code, map[string]string{"name": all.Name})
		all.Commands = append(slices.Clip(all.Commands), one.Commands...)
	}
	return out
}

// findingView puts one difference into words.
func findingView(f profile.Finding) LayoutFinding {
	return LayoutFinding{
		Key: string(f.NS), Name: f.NS.Collection(), Word: words.Code("finding", f.Code, nil), Look: f.Look,
		Want: answer.KeyOrWord(f.Want), Here: answer.KeyOrWord(f.Have), Means: answer.FindingMeans(f), Todo: answer.FindingTodo(f), Commands: f.Fix.Commands,
	}
}
