package collections

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// collection is one collection in detail.
func collection(s *site.Site, r *http.Request) (a api.CollectionDetail, err error) {
	v, ns, err := named(s, r)
	if err != nil {
		return a, err
	}
	return data.Collection(v, ns)
}

// named is the loaded view and the collection's name in the address.
func named(s *site.Site, r *http.Request) (answer.View, topology.Namespace, error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return v, "", err
	}
	ns, err := site.PathText(r, "ns")
	return v, topology.Namespace(ns), err
}

// onePage is a sharded collection and its chunks as their page lays them out.
type onePage struct {
	ns     topology.Namespace
	c      api.CollectionDetail
	chunks api.ChunkList
	query  data.ChunkQuery
	refs   templates.Refs
	shards []templates.ShardRef
	space  writes.KeySpaceMap
	view   answer.View
	live   string
	heat   message.Message
	offers []api.Offer
	moving api.MovingNow
	failed api.FailedMoves
}

// shardOptions are the shards that a filter can choose.
func (m onePage) shardOptions() []templates.Option {
	return templates.ShardOptions(m.view.Table, m.query.Shard)
}

// CollectionPage answers "how is the key space cut?" of one collection. Its
// live region is always filtered or paged, so it re-reads its own address.
func CollectionPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	raw, err := site.PathText(r, "ns")
	if err != nil {
		return err
	}
	q, err := param.Read[data.ChunkQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	ns := topology.Namespace(raw)
	c, err := data.ShardedCollection(v.Table, ns)
	if fault.Of(err) == fault.Invalid { // no collection can have this name, so there is no such page
		return fault.New(fault.NotFound, "%s", fault.Text(err))
	}
	if err != nil {
		return err
	}
	ns = c.NS
	m := onePage{ns: ns, query: q, view: v, refs: templates.RefsOf(v.Table), shards: templates.ShardRefs(v.Table),
		space: writes.KeySpace(v, c), live: r.URL.RequestURI()}
	if m.c, err = data.Collection(v, ns); err != nil {
		return err
	}
	if m.chunks, err = data.ChunkPage(v, c, q); err != nil {
		return err
	}
	m.moving = logbook.MovingNow(v, v.Table.MovingOf(ns), logbook.FlightsListed)
	if q.Page < 2 { // further pages are of chunks alone
		m.failed = logbook.FailedMovesOf(v, ns, nil)
	}
	if v.Past == nil { // writes are counted now
		m.heat = writes.HeatLine(v, writes.HeatSource{Counts: s.Deps.Measured.Heat}, ns, -1)
	}
	m.offers = s.Offers(r, v.Table).Collection(c)
	s.Deps.Cluster.Watcher.Viewed(ns)
	sh := s.Shell(r, v, "collections", raw, "collection:"+raw)
	return site.WritePage(w, r, http.StatusOK, collectionPage(sh, m))
}

func (m onePage) pager() templates.Pager {
	return templates.PagerOf(m.chunks.Of, m.chunks.Page, func(page int) string { return m.query.URL(m.ns, page) })
}

// zoneOptions are "any" and the zones that have ranges of the collection.
func (m onePage) zoneOptions() []templates.Option {
	out := []templates.Option{{Text: "any"}}
	for _, z := range natural.Sorted(slices.Values(m.c.Zones)) {
		out = append(out, templates.Option{Value: z, Text: m.view.ZoneText(z), Selected: z == m.query.Zone})
	}
	return out
}

// counted is a number of chunks as the lanes of the picture show it.
func counted(n int) templates.Figure {
	f := templates.Exact(n)
	f.Text = chunkCount(n)
	return f
}

// seriesText says what the collection is, if it is a time series.
func seriesText(x *api.TimeSeries) string {
	if x == nil {
		return ""
	}
	text := "Time series " + x.Name + ": the time is in " + strconv.Quote(x.TimeField)
	if x.MetaField != "" {
		text += ", and meta in the key is the field " + strconv.Quote(x.MetaField) + " of a measurement"
	}
	if x.Granularity != "" {
		text += ". Granularity: " + x.Granularity
	}
	return text + ". What is counted are buckets of measurements."
}

func facts(c api.CollectionDetail) []templates.Fact {
	out := []templates.Fact{
		{Name: "Data", Figure: templates.Bytes(c.Bytes)},
		{Name: strings.ToUpper(c.Counts[:1]) + c.Counts[1:], Figure: templates.Count(c.Documents)},
	}
	if c.Sharded {
		out = append(out, templates.Fact{Name: "Chunks", Figure: templates.Exact(c.Chunks)})
	}
	if c.Sharded && c.BytesPerChunk.Value != nil {
		out = append(out, templates.Fact{Name: "Data per chunk", Figure: templates.Bytes(c.BytesPerChunk)})
	}
	if !c.System && c.Sharded {
		out = append(out, templates.OrphansFact(c.Orphans))
	}
	if c.Sharded && c.ChunkBytes > 0 {
		out = append(out, templates.Fact{Name: "Chunk size", Figure: templates.Figure{Known: true, Text: format.Bytes(c.ChunkBytes)}})
	}
	if text := data.DefragmentationText(c.Collection); text != "" {
		out = append(out, templates.Fact{Name: "Defragmentation", Figure: templates.Figure{Known: true, Text: text,
			Title: "The phase of the balancer’s work, which can take days."}})
	}
	version := templates.Figure{Known: true, Text: format.Version(0, 0), Title: "The highest chunk version: major " +
		"grows with each move, minor with each split or merge."}
	if c.Version != nil {
		version.Text = format.Version(c.Version.Major, c.Version.Minor)
	}
	primary := templates.Figure{Known: true, Text: c.Primary}
	if c.Primary == "" {
		primary = templates.Figure{Text: topology.ReasonText("notLoaded")}
	}
	return append(out, templates.Fact{Name: "Version", Figure: version}, templates.Fact{Name: "Database primary", Figure: primary})
}
