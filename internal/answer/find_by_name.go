package answer

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/fault"
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
	Runs    func() []api.Run // reads them: asked for only where a query can name one
}

// FindByName lists what the text of a query may mean: each of its words is the beginning of a word of the
// name, or a part of it. Without words it lists pages, changes and shards. Upper and lower
// case are the same. kind=project leaves out all but projects.
func FindByName(v View, in url.Values, from FindIn) (api.Found, error) {
	q, err := text(in, "q")
	if err != nil {
		return api.Found{}, err
	}
	f := finder{words: strings.Fields(fold(q))}
	switch in.Get("kind") {
	case "":
		f.addAll(v, from)
	case "project":
		f.addProjects(v)
	default:
		return api.Found{}, fault.New(fault.Invalid, "kind must be project.")
	}
	out := api.Found{Query: q, Freshness: freshnessOf(v, topology.PartRouting)}
	out.Items, out.More = f.best()
	return out, nil
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
func (f *finder) addAll(v View, from FindIn) {
	for _, p := range from.Pages {
		f.add(p)
	}
	for _, k := range from.Changes {
		f.add(api.FoundItem{
			Kind: "change", Name: k.Describe().Title + "…", Detail: string(k), URL: "/plans/new?kind=" + url.QueryEscape(string(k)),
		})
	}
	for _, s := range v.Table.Shards {
		f.add(api.FoundItem{Kind: "shard", Name: s.Name, URL: ShardURL(s.Name)})
	}
	if len(f.words) == 0 {
		return
	}
	f.addNamed(v)
	if from.Runs != nil {
		for _, r := range from.Runs() {
			f.add(api.FoundItem{Kind: "run", Name: r.Title, Detail: r.State, URL: "/runs/" + r.ID})
		}
	}
}

// addNamed adds collections, zones and projects.
func (f *finder) addNamed(v View) {
	for _, c := range v.Table.Collections {
		if v.Internal || !topology.IsInternal(c.NS) {
			f.add(api.FoundItem{Kind: "collection", Name: string(c.NS), URL: CollectionURL(c.NS)})
		}
	}
	zones := map[string]bool{}
	for _, z := range v.Table.Zones {
		if !zones[z.Zone] {
			zones[z.Zone] = true
			f.add(api.FoundItem{Kind: "zone", Name: z.Zone, URL: "/zones"})
		}
	}
	f.addProjects(v)
}

func (f *finder) addProjects(v View) {
	projects := v.Dir.Match(f.words, foundListed)
	f.more = projects.More
	for _, p := range projects.Items {
		f.hits = append(f.hits, hit{projectFound(p), cmp.Or(rank(fold(p.Name), f.words), 1), len(f.hits)})
	}
}

func projectFound(p placement.Project) api.FoundItem {
	return api.FoundItem{Kind: "project", Name: p.Name, Detail: p.ID.Hex(), URL: "/projects/" + p.ID.Hex()}
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
	return slices.Index([]string{"page", "project", "shard", "collection", "zone", "change", "run"}, kind)
}

func fold(s string) string { return strings.ToLower(s) }

// rank says how well words match a name in lower case: 4 it is the words, 3 it begins with
// them, 2 each begins a word of it, 1 each is a part of it, 0 no match. Without words every
// name matches.
func rank(name string, words []string) int {
	if len(words) == 0 {
		return 1
	}
	whole := strings.Join(words, " ")
	switch {
	case name == whole:
		return 4
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
