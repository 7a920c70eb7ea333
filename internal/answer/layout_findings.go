package answer

import (
	"shardboard/internal/profile"
	"shardboard/web/words"
)

func KeyOrWord(key string) string {
	if key == "" {
		return "not sharded"
	}
	return key
}

// findingMeans is what a difference means, and where it is known to come from.
func FindingMeans(f profile.Finding) string {
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
func FindingTodo(f profile.Finding) string {
	switch {
	case f.Code == profile.FindNewer && f.Fix.Code != profile.FixBack:
		return "Compare with " + f.Layout + " to see every key that lags behind, then bring them up one collection at a time."
	case f.Fix.Code != profile.FixBack && (f.Code == profile.FindMissing || f.Code == profile.FindDocumented):
		return words.T("todo." + f.Code)
	}
	return words.Code("todo", f.Fix.Code, map[string]string{"name": f.NS.Collection(), "layout": f.Layout})
}
