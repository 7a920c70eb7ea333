package storybook

import (
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// address is that of a scene or a component in a theme; of the index for "".
func address(name, theme string) string {
	out := Prefix
	if name != "" {
		out += "/" + name
	}
	if theme != "" {
		out += "?theme=" + theme
	}
	return out
}

// Components are the names of the pages of components.
func Components() (out []string) {
	for _, c := range components() {
		out = append(out, c.name)
	}
	return out
}

func componentNamed(name string) *component {
	for _, c := range components() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

// longText is longer than any line.
var longText = strings.Repeat("a-very-long-name-without-any-space-", 8) + "end"

// components are made once: some need a whole table.
var components = sync.OnceValue(func() []component {
	out := []component{
		{"component-state", stateVariants()},
		{"component-status", statusVariants()},
		{"component-shards", shardVariants()},
		{"component-number", numberVariants()},
		{"component-share", shareVariants()},
		{"component-facts", factVariants()},
		{"component-problems", problemVariants()},
		{"component-failure", failureVariants()},
		{"component-offers", offerVariants()},
		{"component-time", timeVariants()},
	}
	out = append(out, keyComponents()...)
	// Each is a landmark, of which a page has one.
	for _, v := range pageVariants() {
		out = append(out, component{"component-pages-" + v.name, []variant{v}})
	}
	return out
})

func stateVariants() (out []variant) {
	for _, s := range []api.State{
		{Code: "empty", Title: "There are no zones", Detail: "Every shard may hold every chunk."},
		{Code: "loading", Title: "Zones are not read yet", Detail: "This takes some seconds after the start."},
		{Code: "stale", Title: "Zones are old", Detail: "They were last read at 11:53:00; the config servers do not answer."},
		{Code: "partial", Title: "Some sizes are not known", Detail: "shard-rs-3 does not answer."},
		{Code: "denied", Title: "Not permitted to read zones", Detail: "Grant the cluster user find on config.tags."},
		{Code: "failed", Title: "Zones could not be read", Detail: "The cluster does not answer."},
		{Code: "failed", Title: longText, Detail: longText},
		{Code: "failed", Title: webtest.HostileName, Detail: webtest.HostileName},
	} {
		out = append(out, variant{s.Code + " in place of data", templates.Panel(s)},
			variant{s.Code + " beside data", templates.Notes([]api.State{s})})
	}
	return out
}

func statusVariants() (out []variant) {
	for _, level := range []string{"ok", "warn", "critical", "stale", "loading", "failed", "past"} {
		out = append(out, variant{level, templates.StatusLine(api.Status{Level: level, Text: "Data of 2 s ago, state " + level})})
	}
	return append(out, variant{"long", templates.StatusLine(api.Status{Level: "failed", Text: longText})})
}

func shardRefs(names ...string) []templates.ShardRef {
	t := &topology.Table{}
	for _, n := range names {
		t.Shards = append(t.Shards, topology.Shard{Name: n})
	}
	return templates.ShardRefs(t)
}

func shardsOf(n int) []templates.ShardRef {
	s := webtest.NewStory()
	s.Shards = n
	return templates.ShardRefs(s.View().Table)
}

func shardVariants() []variant {
	return []variant{
		{"3 shards", swatches(shardsOf(3))}, {"100 shards", swatches(shardsOf(100))},
		{"long names", swatches(shardRefs(longText, longText+"2"))},
		{"hostile names", swatches(shardRefs(webtest.HostileName, "</b><img src=x>"))},
		{"no longer listed", swatches([]templates.ShardRef{templates.Refs{}.Of("shard-gone")})},
		{"list of 3 of 100", badges(3, 100)}, {"list of 40 of 100", badges(40, 100)}, {"list of all", badges(100, 100)},
	}
}

// badges lists some of a cluster's shards.
func badges(listed, all int) templ.Component {
	s := webtest.NewStory()
	s.Shards = all
	t := s.View().Table
	var names []string
	for _, r := range templates.ShardRefs(t)[:listed] {
		names = append(names, r.Name)
	}
	return templates.Badges(names, templates.RefsOf(t))
}

func known(n int64) api.Figure {
	return api.Figure{Value: &n, Exact: true, Method: "collStats", At: webtest.Epoch}
}

func estimated(n int64) api.Figure {
	return api.Figure{Value: &n, Method: "recipientCount", At: webtest.Epoch, PlusMinus: n / 10}
}

func numberVariants() []variant {
	out := []variant{
		{"exact", templates.Number(templates.Bytes(known(12 << 30)))},
		{"estimate", templates.Number(templates.Bytes(estimated(12 << 30)))},
		{"zero", templates.Number(templates.Count(known(0)))},
		{"large", templates.Number(templates.Count(known(9_123_456_789_012)))},
	}
	for _, reason := range []string{"notLoaded", "notPermitted", "notReported", "failed", "notCounted"} {
		out = append(out, variant{reason, templates.Number(templates.Count(api.Figure{Reason: reason}))})
	}
	return out
}

func shareVariants() []variant {
	table := func(refs []templates.ShardRef, figures ...api.Figure) variant {
		return variant{body: shareTable(templates.Cells(figures, templates.Bytes, nil), refs)}
	}
	named := func(name string, v variant) variant { v.name = name; return v }
	hundred := make([]api.Figure, 100)
	for i := range hundred {
		hundred[i] = known(int64(i*i) << 20)
	}
	return []variant{
		named("even", table(shardsOf(3), known(1<<30), known(1<<30), known(1<<30))),
		named("uneven", table(shardsOf(3), known(9<<30), known(1<<30), known(1<<20))),
		named("one not known", table(shardsOf(3), known(9<<30), api.Figure{Reason: "notPermitted"}, known(1<<20))),
		named("nothing stored", table(shardsOf(2), known(0), known(0))),
		named("100 shards", table(shardsOf(100), hundred...)),
	}
}

func factVariants() []variant {
	fact := func(name string, f templates.Figure) templates.Fact { return templates.Fact{Name: name, Figure: f} }
	return []variant{{"known, estimate, unknown, warning, long, hostile", templates.Facts([]templates.Fact{
		fact("Data", templates.Bytes(known(12<<30))), fact("Documents", templates.Count(estimated(4000))),
		fact("Orphaned documents", templates.Count(api.Figure{Reason: "notPermitted"})),
		{Name: "Disk", Figure: templates.Figure{Known: true, Text: "470 GiB of 480 GiB (98 %)"}, Warn: true},
		{Name: "Id", Figure: templates.Figure{Known: true, Text: longText}, Mono: true},
		{Name: webtest.HostileName, Figure: templates.Figure{Known: true, Text: webtest.HostileName}},
	})}}
}

func problemVariants() []variant {
	line := func(severity, name, title string) api.ProblemLine {
		return api.ProblemLine{ID: severity + title, Severity: severity, SeverityName: name, Title: title, URL: "/advice"}
	}
	return []variant{
		{"of each severity", templates.ProblemList([]api.ProblemLine{
			line("critical", "Critical", "shard-rs-2 is full"), line("warning", "Warning", "3 chunks are jumbo"),
			line("info", "Info", "Statistics are of an hour ago")})},
		{"long and hostile", templates.ProblemList([]api.ProblemLine{
			line("critical", "Critical", longText), line("warning", "Warning", webtest.HostileName)})},
	}
}

func failureVariants() []variant {
	return []variant{
		{"with our words and the server's", templates.FailedWhy("The target still deletes orphans.", "The server:", webtest.OrphansReason)},
		{"only the server's words", templates.FailedWhy("", "The server:", "something that is not known")},
		{"long", templates.FailedWhy("", "The server:", strings.Repeat(webtest.OrphansReason+" ", 6))},
		{"hostile", templates.FailedWhy(webtest.HostileName, "The server:", webtest.HostileName)},
		{"a refused form", templates.Problem("The argument “to” names a shard that does not exist.")},
	}
}

func offerVariants() []variant {
	return []variant{
		{"offered and not", templates.Offers([]api.Offer{
			{Text: "Split chunk 3 of documents…", URL: "/plans/new"},
			{Text: "Move chunk 3 of documents…", Why: "There is only one shard."},
			{Text: longText, URL: "/plans/new"}, {Text: webtest.HostileName, Why: webtest.HostileName}})},
	}
}

func pageVariants() []variant {
	link := func(page int) string { return "?page=" + strings.Repeat("1", page) }
	return []variant{
		{"one", templates.Pages(templates.PagerOf(3, 1, link))},
		{"first", templates.Pages(templates.PagerOf(400, 1, link))},
		{"middle", templates.Pages(templates.PagerOf(400, 2, link))},
		{"none", templates.Pages(templates.PagerOf(0, 1, link))},
	}
}

func timeVariants() (out []variant) {
	for _, ago := range []time.Duration{0, 5 * time.Second, 7 * time.Minute, 30 * time.Hour, 400 * 24 * time.Hour} {
		out = append(out, variant{ago.String() + " ago", templates.Time(templates.Ago(webtest.Epoch.Add(-ago), webtest.Epoch))})
	}
	return append(out, variant{"never", templates.Time(templates.Ago(time.Time{}, webtest.Epoch))})
}
