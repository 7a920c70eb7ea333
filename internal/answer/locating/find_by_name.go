package locating

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

const (
	foundListed = 30 // items of an answer
	foundOfKind = 8  // items of one kind, while others are found too
)

// FindIn is what can be found: pages and kinds of change that the viewer may use, and
// runs that are recent. Shards, collections, zones and projects are those of the view.
type FindIn struct {
	Pages   []api.FoundItem
	Changes []actions.Kind
	Runs    func() []api.Run      // reads them: asked for only where a query can name one
	Plans   func() []actions.Plan // never run; reads them too
}

// FindQuery is what is looked for by name.
type FindQuery struct{ text, kind string }

// Parameters are those of the address.
func (q *FindQuery) Parameters() param.List {
	return param.List{
		param.Text(&q.text, "q", "words; each is a part of the name"),
		param.OneOf(&q.kind, "kind", "projects only", "project"),
	}
}

// FindByName lists what the text of a query may mean: each of its words is the beginning of a word of the
// name, or a part of it. Without words it lists pages, changes and shards. Upper and lower
// case are the same. kind=project leaves out all but projects.
func FindByName(v answer.View, q FindQuery, from FindIn) api.Found {
	f := finder{words: strings.Fields(fold(q.text))}
	if q.kind == "project" {
		f.addProjects(v)
	} else {
		f.addAll(v, from)
	}
	out := api.Found{Query: q.text, Freshness: answer.FreshnessOf(v, topology.PartRouting)}
	out.Items, out.More = f.best()
	return out
}

// ExactlyNamed lists the shards, collections and zones of a name, whatever the case of its letters.
func ExactlyNamed(v answer.View, name string) (out []api.FoundItem) {
	f := finder{words: []string{fold(name)}}
	f.addShards(v)
	f.addTables(v)
	for _, h := range f.hits {
		if h.rank == exact {
			out = append(out, h.FoundItem)
		}
	}
	return out
}

// finder collects what matches.
type finder struct {
	words []string
	hits  []hit
	more  int // projects that match and were not collected
}

type hit struct {
	api.FoundItem
	rank, order int
}

// addAll adds pages, changes and shards, and with words everything else.
func (f *finder) addAll(v answer.View, from FindIn) {
	for _, p := range from.Pages {
		f.add(p)
	}
	for _, k := range from.Changes {
		f.add(api.FoundItem{
			Kind: "change", Name: actions.Describe(k).Title + "…", Detail: string(k),
			URL: api.Address("/plans/new?kind=" + url.QueryEscape(string(k))),
		})
	}
	f.addShards(v)
	if len(f.words) == 0 {
		return
	}
	f.addTables(v)
	f.addProjects(v)
	if from.Runs != nil {
		for _, r := range from.Runs() {
			f.addRecord(api.FoundItem{Kind: "run", Name: r.Title.String(), Detail: r.State, URL: api.Address("/runs/" + r.ID)}, r.ID)
		}
	}
	if from.Plans != nil {
		for _, p := range from.Plans() {
			detail := "not run"
			if !v.Now.Before(p.Expires) {
				detail = "expired, not run"
			}
			f.addRecord(api.FoundItem{Kind: "plan", Name: changing.PlanTitle(v, p), Detail: detail, URL: api.Address("/plans/" + p.ID)}, p.ID)
		}
	}
}

func (f *finder) addShards(v answer.View) {
	for _, s := range v.Table.Shards {
		f.add(api.FoundItem{Kind: "shard", Name: s.Name, URL: api.Address(answer.ShardURL(s.Name))})
	}
}

// addTables adds collections and zones.
func (f *finder) addTables(v answer.View) {
	for _, c := range v.Table.Collections {
		if v.Internal || !topology.IsInternal(c.NS) {
			f.add(api.FoundItem{Kind: "collection", Name: string(c.NS), URL: api.Address(answer.CollectionURL(c.NS))})
		}
	}
	zones := map[string]bool{}
	for _, z := range v.Table.Zones {
		if !zones[z.Zone] {
			zones[z.Zone] = true
			f.add(api.FoundItem{Kind: "zone", Name: z.Zone, URL: "/zones"})
		}
	}
}

func (f *finder) addProjects(v answer.View) {
	projects := v.Dir.Match(f.words, foundListed)
	f.more = projects.More
	for _, p := range projects.Items {
		f.hits = append(f.hits, hit{projectFound(p), max(rank(fold(p.Name), f.words), rank(p.ID.Hex(), f.words), 1), len(f.hits)})
	}
}

func projectFound(p placement.Project) api.FoundItem {
	return api.FoundItem{Kind: "project", Name: answer.NameOf(p), Detail: p.IDText(), URL: api.Address("/projects/" + p.ID.Hex())}
}

func (f *finder) add(x api.FoundItem) {
	r := rank(fold(x.Name), f.words)
	if r == 0 {
		r = rank(x.Detail, f.words)
	}
	if r > 0 {
		f.hits = append(f.hits, hit{x, r, len(f.hits)})
	}
}

// addRecord adds a run or plan, which is found by its id too.
func (f *finder) addRecord(x api.FoundItem, id string) {
	if r := max(rank(fold(x.Name), f.words), rank(x.Detail, f.words), rank(id, f.words)); r > 0 {
		f.hits = append(f.hits, hit{x, r, len(f.hits)})
	}
}

// best sorts the hits: those that match better first, then in the order in which they were
// added. One kind does not crowd out the others.
func (f *finder) best() (out []api.FoundItem, more int) {
	slices.SortStableFunc(f.hits, func(a, b hit) int {
		byName := 0
		if a.Kind == b.Kind {
			byName = natural.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(kindOrder(a.Kind), kindOrder(b.Kind)), byName, cmp.Compare(a.order, b.order))
	})
	out = []api.FoundItem{}
	ofKind := map[string]int{}
	for _, h := range f.hits {
		if ofKind[h.Kind]++; len(out) < foundListed && (ofKind[h.Kind] <= foundOfKind || h.Kind == "page") {
			out = append(out, h.FoundItem)
		} else {
			more++
		}
	}
	return out, more + f.more
}

func kindOrder(kind string) int {
	return slices.Index([]string{"page", "project", "shard", "collection", "zone", "change", "plan", "run"}, kind)
}

func fold(s string) string { return strings.ToLower(s) }

const exact = 4 // the rank of a name that is the words

// rank says how well words match a name in lower case: exact it is the words, 3 it begins with
// them, 2 each begins a word of it, 1 each is a part of it, 0 no match. Without words every
// name matches.
func rank(name string, words []string) int {
	if len(words) == 0 {
		return 1
	}
	whole := strings.Join(words, " ")
	switch {
	case name == whole:
		return exact
	case strings.HasPrefix(name, whole):
		return 3
	}
	out := 2
	for _, w := range words {
		at := strings.Index(name, w)
		if at < 0 {
			return 0
		}
		if !beginsWord(name, w) {
			out = 1
		}
	}
	return out
}

// beginsWord tells whether a word of the name begins with w.
func beginsWord(name, w string) bool {
	for at := 0; ; {
		i := strings.Index(name[at:], w)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(name[:at])
		if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		at++
	}
}
