package web

import (
	"slices"

	"shardboard/internal/profile"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// together puts findings into words, those of absent collections as one: the
// same holds for all of them.
func together(list []profile.Finding) []templates.LayoutFinding {
	var out []templates.LayoutFinding
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
		all.Name = joinWords(names)
		all.Means = words.Code("means", f.Code, map[string]string{"name": all.Name})
		all.Commands = append(slices.Clip(all.Commands), one.Commands...)
	}
	return out
}

// findingView puts one difference into words.
func findingView(f profile.Finding) templates.LayoutFinding {
	return templates.LayoutFinding{
		Key: string(f.NS), Name: f.NS.Collection(), Word: words.Code("finding", f.Code, nil), Look: f.Look,
		Want: keyOrWord(f.Want), Here: keyOrWord(f.Have), Means: findingMeans(f), Todo: findingTodo(f), Commands: f.Fix.Commands,
	}
}

func keyOrWord(key string) string {
	if key == "" {
		return words.T("spread.unsharded")
	}
	return key
}

// findingMeans is what a difference means, and where it is known to come from.
func findingMeans(f profile.Finding) string {
	code := f.Code
	if code == profile.FindDifferent && f.Fix.Code == profile.FixBack {
		code = profile.FixBack // "should be" would be wrong
	}
	out := words.Code("means", code, map[string]string{"name": f.NS.Collection(), "want": f.Want, "have": f.Have, "layout": f.Layout})
	if f.Variant != "" {
		out += " " + words.Code("variant", f.Variant, nil)
	}
	return out
}

// findingTodo is what to do about it.
func findingTodo(f profile.Finding) string {
	switch {
	case f.Code == profile.FindNewer && f.Fix.Code != profile.FixBack:
		return words.T("todo.newer", "layout", f.Layout)
	case f.Fix.Code != profile.FixBack && (f.Code == profile.FindMissing || f.Code == profile.FindDocumented):
		return words.T("todo." + f.Code)
	}
	return words.Code("todo", f.Fix.Code, map[string]string{"name": f.NS.Collection(), "layout": f.Layout})
}
