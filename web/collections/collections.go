// Package collections shows how the cluster's collections are spread over its
// shards, how each one's key space is cut into chunks, and whether shard keys are
// those of a known layout.
package collections

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page is the list of collections and how each is spread over the shards.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.ParseInternal(r.URL.Query()); err != nil {
		return err
	}
	q, err := param.Read[pageQuery](r.URL.Query())
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "collections", "Collections", "collections")
	return site.WritePage(w, r, http.StatusOK, collectionsPage(sh, q.text, Region(v, q.text, q.page), s.Offers(r, v.Table).Collections()))
}

// pageQuery is a page of the collections whose names contain a text.
type pageQuery struct {
	text string
	page int
}

// Parameters are those of the address of the page.
func (q *pageQuery) Parameters() param.List {
	return param.List{ofNames(&q.text), param.Page(&q.page, "of the page's tables, 50 rows each, counted from 1")}
}

func ofNames(text *string) param.Param {
	return param.Text(text, "q", "only collections whose name contains this")
}

// listQuery chooses collections for scripts.
type listQuery struct{ text, db string }

// Parameters are those of the address but those of a page of the list.
func (q *listQuery) Parameters() param.List {
	return param.List{ofNames(&q.text), param.Text(&q.db, "db", "one database only")}
}

// list is a page of the list of collections, internal ones too; as CSV all of it.
func list(s *site.Site, r *http.Request) (a api.List[api.Collection], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[listQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	all := data.Collections(v, q.db)
	if text := strings.ToLower(q.text); text != "" {
		lacks := func(c api.Collection) bool { return !strings.Contains(strings.ToLower(c.NS), text) }
		all.Items = slices.DeleteFunc(slices.Clone(all.Items), lacks)
	}
	out, err := site.PageOf(r, all.Items, func(c api.Collection) string { return c.NS }, func(c api.Collection) api.Collection { return c })
	if err != nil {
		return a, err
	}
	out.AsOf, out.Stale, out.Incomplete = all.AsOf, all.Stale, all.Incomplete
	return out, nil
}

// listing is the list of collections as its page lays it out.
type listing struct {
	data.CollectionPage
	shards  []templates.ShardRef
	damaged []api.State
	live    string // address of the live region; "" for that of everybody
	state   api.State
	// why no collection that is not sharded is listed
	unsharded api.State
	internal  bool // internal collections are shown
	pager     templates.Pager
}

// Region is the live part of a page. All its tables together are cut into pages.
func Region(v answer.View, text string, page int) templ.Component {
	m := listing{CollectionPage: data.CollectionsPage(v, text, page), shards: templates.ShardRefs(v.Table), internal: v.Internal,
		damaged: data.DamagedNotes(v.Table)}
	if m.state = answer.PartState(v, topology.PartRouting); m.state.Code == "stale" {
		m.state = api.State{} // the header says so on every page
	}
	if text != "" && m.All == 0 && m.state.Code == "" {
		m.state = api.State{Code: "empty", Title: "No collections match the filter",
			Detail: "Searched: " + format.Count(int64(m.Searched)) + ". Upper and lower case are treated alike."}
	}
	if text != "" && m.All > 0 { // other sums would not be of what is listed
		m.Summary = message.New("collections.matching",
			message.Plural(m.Searched, "1 collection matches the filter.",
				message.Plural(m.All, "1 of {all} collections matches the filter.", "{n} of {all} collections match the filter.")),
			message.Count("n", m.All), message.Count("all", m.Searched))
	}
	if m.Sharded == 0 && text == "" && m.state.Code == "" {
		m.state = api.State{Code: "empty", Title: "No collection is sharded",
			Detail: "A collection appears here within a few seconds after sh.shardCollection."}
	}
	if v.Table.Unsharded == nil {
		m.unsharded = answer.PartState(v, topology.PartCollections)
	} else if m.Unsharded == 0 && text == "" {
		m.unsharded = api.State{Code: "empty", Title: "Every collection is sharded"}
	}
	if m.All > answer.PageRows {
		m.pager = templates.PagerOf(m.All, m.Page, func(page int) string { return answer.CollectionsURL(v.Internal, text, page) })
	}
	if v.Internal || text != "" || m.Page > 1 {
		m.live = answer.CollectionsURL(v.Internal, text, m.Page)
	}
	return region(m)
}

// rows are the collections of one table of the page.
func (m listing) rows(section data.CollectionSection) (out []api.Collection) {
	for _, c := range m.Items {
		if data.SectionOf(&c, m.internal) == section {
			out = append(out, c)
		}
	}
	return out
}

// shard is how pages show a shard.
func (m listing) shard(name string) templates.ShardRef {
	for _, r := range m.shards {
		if r.Name == name {
			return r
		}
	}
	return templates.Refs{}.Of(name)
}

func flagged(c api.Collection) bool {
	return c.Damage != nil || c.Unique || c.Jumbo > 0 || c.MigrationsBlocked || c.NoBalance || c.Resharding || len(data.UpkeepFlags(c)) > 0
}
