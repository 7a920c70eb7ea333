package site

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// Watching is where the things of ?watch= are. It is the same for everybody who
// asks for the same: who watches what is known to their browser only.
func (s *Site) Watching(r *http.Request, v answer.View) (templates.Watching, error) {
	q := r.URL.Query()
	all := q["watch"]
	if len(all) > changing.MaxWatched {
		return templates.Watching{}, fault.New(fault.Invalid, "At most %d things can be watched at once.", changing.MaxWatched)
	}
	var m templates.Watching
	if !v.Table.Loaded {
		return m, nil
	}
	refs := templates.RefsOf(v.Table)
	for i, item := range all {
		found, err := changing.Watched(v, s.Deps.Cluster.Profile, item)
		if err != nil {
			return m, fault.Wrap(fault.Invalid, err, "watch must be project:<id> or chunk:<namespace>:<reference>, not %q.",
				sanitize.Truncate(item, 80))
		}
		rest := url.Values{}
		for name, values := range q {
			if name != "watch" {
				rest[name] = values
			}
		}
		rest["watch"] = slices.Delete(slices.Clone(all), i, i+1)
		w := templates.Watched{Watched: found, Drop: "?" + rest.Encode()}
		holding := map[string]bool{}
		for _, h := range found.Holders {
			for _, name := range h.Shards {
				holding[name] = true
			}
		}
		for _, name := range natural.Sorted(maps.Keys(holding)) {
			w.Where = append(w.Where, refs.Of(name))
		}
		m.Items = append(m.Items, w)
	}
	return m, nil
}
