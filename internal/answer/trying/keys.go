// Package trying answers the questions of the lab: how other shard keys would place rows, how data grows, what ids
// tell, and the card game. Nothing of it changes a cluster.
package trying

import (
	"context"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/lab/keys"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// RowSampler reads some rows of a collection.
type RowSampler interface {
	Ask(ctx context.Context, q rowsample.Query) (rowsample.Reading, error)
}

// labRows are the rows that keys are compared over, with what is known beside them.
type labRows struct {
	sample   *keys.Sample
	unique   []keys.UniqueIndex
	ordered  bool // in the order of insertion
	source   string
	server   string
	analyses []rowsample.Analysis
}

// LabKeys compares shard keys. Rows of a real collection are read by sampler, which is nil where nothing can be read;
// while they are read the answer has no keys.
func LabKeys(ctx context.Context, v answer.View, q LabKeysQuery, sampler RowSampler) (api.LabKeys, error) {
	out := api.LabKeys{Inputs: q.LabKeysInputs, URL: api.Address(q.URL("/lab/keys")), Items: []api.LabKey{}}
	var rows labRows
	var candidates []keys.Candidate
	var err error
	if q.NS == "" {
		candidates = q.candidates(true)
		rows, err = q.modelRows(candidates)
	} else {
		rows, candidates, out.Reading, err = q.realRows(ctx, v, sampler)
	}
	if err != nil || out.Reading != nil {
		return out, err
	}
	out.Source, out.Server = rows.source, rows.server
	out.Rows, out.Of, out.Exact = rows.sample.Len(), rows.sample.Rows(), rows.sample.Whole()
	release := balance.ReleaseOf(q.Release)
	c := &keys.Cluster{Shards: q.Shards, ChunkSize: q.chunkBytes(), Today: q.today, Unique: rows.unique,
		BytesPerSecond: int64(q.RateMB) << 20, CanRefine: release.AtLeast(4, 4, 0), CanReshard: release.AtLeast(5, 0, 0)}
	c.Queries, _, _ = keys.YorkieQueries(q.kind())
	reports, err := keys.Compare(rows.sample, c, candidates)
	if err != nil {
		return out, fault.Wrap(fault.Invalid, err, "%s.", err.Error())
	}
	for _, r := range reports {
		out.Items = append(out.Items, q.labKey(r, c, rows))
	}
	return out, nil
}

// modelRows are those of the model.
func (q LabKeysQuery) modelRows(candidates []keys.Candidate) (out labRows, err error) {
	_, extra := fieldsOf(candidates)
	m := q.model(extra)
	if out.sample, err = m.Sample(); err != nil {
		return out, fault.Wrap(fault.Invalid, err, "%s.", err.Error())
	}
	_, out.unique, _ = keys.YorkieQueries(q.Collection)
	out.ordered = true
	pattern := "A model of {collection}: {all} in {projects} over {days}, all looked at in the order of insertion."
	if !out.sample.Whole() {
		pattern = "A model of {collection}: {all} in {projects} over {days}. {looked} of them were looked at, in the order of insertion."
	}
	out.source = message.New("", pattern,
		message.Text("collection", q.Collection), message.Words("all", countOf(out.sample.Rows(), "row", "rows")),
		message.Words("projects", countOf(int64(q.Projects), "project", "projects")),
		message.Words("days", countOf(int64(q.Days), "day", "days")),
		message.Count("looked", int64(out.sample.Len()))).String()
	out.server = "The figures are computed here; no server was asked."
	return out, nil
}

func countOf(n int64, one, many string) string {
	return message.New("", message.Plural(int(n), "{n} "+one, "{n} "+many), message.Count("n", n)).String()
}

// labKey is the report of a key.
func (q LabKeysQuery) labKey(r keys.Report, c *keys.Cluster, rows labRows) api.LabKey {
	out := api.LabKey{Name: r.Name, Key: r.Key.String(), Today: !q.today.IsZero() && r.Key.Equal(q.today), Weaknesses: []api.LabKeyWeakness{},
		Parts: []api.LabKeyPart{}, Queries: []api.LabKeyQuery{}, Unique: []api.LabKeyUnique{}}
	if r.Err != nil {
		out.Problem = fault.Text(r.Err)
		return out
	}
	out.Values, out.Common, out.MissingShare = labEstimate(r.Values), labEstimate(r.Common), r.Missing
	if rows.ordered {
		out.Order = &r.Order
		if len(r.InsertParts) > 0 {
			out.InsertShare = &r.Inserts
		}
	}
	if resolved(rows.sample, c) {
		out.Chunks, out.SmallestBytes, out.MedianBytes, out.LargestBytes = &r.Chunks, &r.Smallest, &r.Median, &r.Largest
		out.Unsplittable, out.HeaviestBytes = &r.Stuck, &r.Heaviest
	}
	out.ShardsUsed, out.FullestShare = r.Used, r.Fullest
	all := max(rows.sample.Bytes(), 1)
	for i, b := range r.Parts {
		p := api.LabKeyPart{Bytes: b, Share: float64(b) / float64(all)}
		if rows.ordered && len(r.InsertParts) > 0 {
			p.InsertShare = r.InsertParts[i]
		}
		out.Parts = append(out.Parts, p)
	}
	for _, one := range r.Queries {
		reach := one.Reach(r.Key)
		switch reach {
		case keys.One:
			out.OneShard++
		case keys.Some:
			out.SomeShards++
		case keys.All:
			out.AllShards++
		}
		out.Queries = append(out.Queries, api.LabKeyQuery{Name: one.Name, Fields: slices.Clone(one.Equal), Reach: string(reach),
			Shards: one.Shards, Note: one.Note})
	}
	for _, u := range r.Unique {
		out.Unique = append(out.Unique, api.LabKeyUnique{Fields: u.Fields, Fits: u.Fits})
	}
	out.Cost = q.cost(r)
	out.Weaknesses = weaknesses(r, c, rows)
	out.Weakness = "No weak point was found."
	if len(out.Weaknesses) > 0 {
		out.Weakness = out.Weaknesses[0].Text
	}
	out.Analysis = rows.analysis(r.Key)
	return out
}

// resolved tells whether enough rows were looked at to say something of chunks: a row stands for a small part of one.
func resolved(s *keys.Sample, c *keys.Cluster) bool {
	return s.Whole() || s.Len() > 0 && s.Bytes()/int64(s.Len()) <= c.ChunkSize/8
}

func labEstimate(e keys.Estimate) api.LabEstimate {
	return api.LabEstimate{Value: e.Value, Low: e.Low, High: e.High}
}

// cost is what it takes to get to a key, with the form of the plan.
func (q LabKeysQuery) cost(r keys.Report) api.LabKeyCost {
	out := api.LabKeyCost{How: r.Cost.How, Bytes: r.Cost.Bytes, Seconds: int64(r.Cost.Duration / time.Second)}
	var in []string
	for _, u := range r.Cost.Blockers {
		in = append(in, "The unique index "+fieldList(u.Fields)+" has to be dropped first.")
	}
	extra := hasExtra(r.Key)
	if extra != "" {
		in = append(in, "Programs have to write the field "+extra+" first.")
	}
	out.Blockers = strings.Join(in, " ")
	if q.NS == "" || extra != "" {
		return out
	}
	switch r.Cost.How {
	case keys.Refines:
		out.URL = api.Address(answer.PlanURL(actions.RefineKey, "ns", q.NS, "key", r.Key.JSON()))
	case keys.Reshards:
		out.URL = api.Address(answer.PlanURL(actions.ReshardKind, "ns", q.NS, "key", r.Key.JSON()))
	}
	return out
}

func fieldList(names []string) string { return "{" + strings.Join(names, ", ") + "}" }

// analysis is what the server says of a key; nil if it was not asked.
func (rows labRows) analysis(key shardkey.Pattern) *api.LabKeyServer {
	i := slices.IndexFunc(rows.analyses, func(a rowsample.Analysis) bool { return a.Key.Equal(key) })
	if i < 0 {
		return nil
	}
	a := rows.analyses[i]
	out := &api.LabKeyServer{Problem: a.Reason, Rows: a.Rows, Values: a.Values, Unique: a.Unique, Monotonic: a.Monotonic}
	if a.Reason == "" && a.Common > 0 {
		share := float64(a.Common) / float64(a.Rows)
		out.CommonShare = &share
	}
	if q := a.Queries; q != nil {
		out.Queries = &api.LabKeyQueries{Problem: q.Reason, Reads: targeted(q.Reads), Writes: targeted(q.Writes)}
	}
	return out
}

// targeted has no shares of no queries.
func targeted(t rowsample.Targets) api.LabKeyTargeted {
	out := api.LabKeyTargeted{Sampled: t.Sampled}
	if t.Sampled > 0 {
		out.One, out.Several, out.All = &t.One, &t.Several, &t.All
	}
	return out
}
