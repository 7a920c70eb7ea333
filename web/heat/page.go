// Package heat has the page and the answers of where writes go.
package heat

import (
	"net/http"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page answers "where is it hot?".
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[writes.HeatQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	from := source(s, r, v)
	from.Try = s.Tries(v)
	report, err := writes.Heat(r.Context(), v, from, q)
	if err != nil {
		return err
	}
	m := page{HeatReport: report, shards: templates.RefsOf(v.Table), say: templates.SentencesOf(v),
		incidents: problems.IncidentsAbout(v, problems.About{}, from.Try), mayPlan: s.Deps.Changes.PlanForms}
	for _, shard := range v.Table.Shards {
		m.names = append(m.names, shard.Name)
	}
	if all := len(m.Shards); all > templates.ManyShards && !templates.WantsAllShards(r.URL.Query()) {
		m.Shards, m.allShards = m.Shards[:templates.ListedOfMany], templates.WithAllShards("/heat", r.URL.Query())
	}
	return site.WritePage(w, r, http.StatusOK, heatPage(s.Shell(r, v, "heat", "Heat"), m))
}

// source is what counts writes, and whether the reader may make plans.
func source(s *site.Site, r *http.Request, v answer.View) writes.HeatSource {
	events := writes.HeatEvents{Runs: s.Deps.Changes.Actions, Kept: s.Deps.Past.History}
	if s.Deps.Problems.Alerts != nil {
		events.Alerts = s.Deps.Problems.Alerts.Status
	}
	m := s.Deps.Measured
	return writes.HeatSource{Counts: m.Heat, Pictures: m.Pictures, Plans: s.Offers(r, v.Table) != nil, Events: events}
}

// operations are the reads and writes by shard and collection.
func operations(s *site.Site, r *http.Request) (a api.List[api.HeatOperations], err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[writes.OperationsQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	all, err := writes.HeatOperations(v, source(s, r, v), q)
	if err != nil {
		return a, err
	}
	out, err := site.PageOf(r, all, func(x api.HeatOperations) string { return x.Shard + " " + x.NS },
		func(x api.HeatOperations) api.HeatOperations { return x })
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return out, err
}

// hottest is what is hot of a kind, hottest first.
func hottest(s *site.Site, r *http.Request, of writes.HeatKind) (a api.HeatList, err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[writes.HeatListQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return writes.HeatList(v, source(s, r, v), q, of)
}

// keyRange answers who wrote to a range of keys lately.
func keyRange(s *site.Site, r *http.Request) (a api.HeatRange, err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[writes.RangeQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return writes.HeatRange(v, source(s, r, v), q)
}

// MapJSON answers a picture. Its version takes the place of an ETag, because it is made
// of more than the routing table.
func MapJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	from := source(s, r, v)
	if from.Pictures == nil {
		return fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	var q writes.HeatMapQuery
	if err := q.Parameters(v, from).Read(r.URL.Query()); err != nil {
		return err
	}
	version := strings.Join([]string{strconv.FormatInt(s.Born, 36), strconv.FormatInt(from.Pictures.Version(q.NS, q.By), 36),
		strconv.FormatUint(v.Table.Seq, 36), from.Events.Version(r.Context())}, "-")
	if site.Matches(r.Header.Get("If-None-Match"), version) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	out, err := writes.HeatMap(r.Context(), v, from, q)
	if err != nil {
		return err
	}
	out.Version = version
	return site.WriteJSON(w, http.StatusOK, out)
}
