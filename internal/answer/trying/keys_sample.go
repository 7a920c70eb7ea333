package trying

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/answer"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/lab/keys"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// mayBeRead refuses collections that are not for the lab: only sharded ones are read, and those that Yorkie means to
// shard. Others may have passwords and tokens, and nobody shards them.
func (q LabKeysQuery) mayBeRead(v answer.View) error {
	ns := topology.Namespace(q.NS)
	if v.Table == nil || !v.Table.Loaded {
		return v.Table.NotLoaded()
	}
	c := v.Table.Collection(ns)
	switch {
	case c != nil && c.Temporary, topology.IsInternal(ns):
		return fault.New(fault.Invalid, "ns: %s is a collection of the server's own.", ns)
	case c != nil && !c.Unsplittable:
		return nil
	case q.kind() != "" && (c != nil || slices.Contains(v.Table.Unsharded, ns)):
		return nil
	case c != nil || slices.Contains(v.Table.Unsharded, ns):
		return fault.New(fault.Invalid, "ns: %s is not sharded, and not a collection that Yorkie means to shard; its rows are not read.", ns)
	}
	return fault.New(fault.NotFound, "There is no collection %s.", ns)
}

// realRows are rows of the collection, or how far their reading is.
func (q LabKeysQuery) realRows(ctx context.Context, v answer.View, sampler RowSampler) (out labRows, candidates []keys.Candidate,
	reading *api.LabKeysReading, err error) {
	if err := q.mayBeRead(v); err != nil {
		return out, nil, nil, err
	}
	if sampler == nil {
		return out, nil, nil, fault.New(fault.Unavailable, "Rows of collections cannot be read on this server.")
	}
	all := q.candidates(true)
	real, _ := fieldsOf(all)
	ask := rowsample.Query{NS: topology.Namespace(q.NS), Fields: real, Rows: q.Rows}
	serverHas := balance.ReleaseOf(v.Table.ServerInfo.Version).AtLeast(7, 0, 0)
	if serverHas && !q.today.IsZero() {
		ask.Keys = append(ask.Keys, q.today) // the only one that is sure to have an index
	}
	if serverHas {
		for _, p := range q.typed {
			if hasExtra(p) == "" && !p.Equal(q.today) {
				ask.Keys = append(ask.Keys, p)
			}
		}
	}
	r, err := sampler.Ask(ctx, ask)
	switch {
	case err != nil:
		return out, nil, nil, err
	case r.Err != nil:
		return out, nil, nil, r.Err
	case r.Result == nil:
		return out, nil, labReading(q, r), nil
	}
	out, candidates, err = q.labRowsOf(r.Result)
	out.server = serverText(serverHas, r.Result.Analyses)
	return out, candidates, nil, err
}

func labReading(q LabKeysQuery, r rowsample.Reading) *api.LabKeysReading {
	out := &api.LabKeysReading{Done: r.Done, Total: r.Total, PerSecond: r.PerSecond}
	if r.Left >= 0 {
		left := int64(r.Left.Round(time.Second) / time.Second)
		out.LeftSeconds = &left
	}
	pattern := "Reading rows of {ns}: {done} of {total}. All measurements together read at most {rate} rows a second on average. " +
		"The reading stops when this page is closed."
	if r.Queued {
		pattern = "Rows of {ns} are read after those that somebody else asked for. The reading is dropped when this page is closed."
	}
	out.Text = message.New("", pattern, message.Namespace("ns", topology.Namespace(q.NS)), message.Count("done", int64(r.Done)),
		message.Count("total", int64(r.Total)), message.Count("rate", int64(r.PerSecond))).String()
	return out
}

// serverText says whose the figures are.
func serverText(has bool, analyses []rowsample.Analysis) string {
	switch {
	case !has:
		return "The figures are computed here from the rows; analyzeShardKey needs MongoDB 7.0."
	case len(analyses) == 0:
		return "The figures are computed here from the rows."
	case slices.ContainsFunc(analyses, func(a rowsample.Analysis) bool { return a.Reason == "" }):
		return "The figures are computed here from the rows. What the server's analyzeShardKey says stands beside them, " +
			"for keys that have an index."
	}
	return "The figures are computed here from the rows; analyzeShardKey gave nothing: " + sanitize.Line(analyses[0].Reason)
}

// labRowsOf puts the rows that were read into their order, and adds fields that programs could write.
func (q LabKeysQuery) labRowsOf(result *rowsample.Result) (out labRows, candidates []keys.Candidate, err error) {
	read := slices.Clone(result.Rows)
	out.ordered = !slices.ContainsFunc(read, func(r rowsample.Row) bool { return r.Doc.Lookup("_id").Type != bson.TypeObjectID })
	if out.ordered {
		slices.SortStableFunc(read, func(a, b rowsample.Row) int {
			x, y := a.Doc.Lookup("_id").ObjectID(), b.Doc.Lookup("_id").ObjectID()
			// ObjectIDs of the same second are of several processes: their counters do not compare.
			return cmp.Or(cmp.Compare(x.Timestamp().Unix(), y.Timestamp().Unix()), bytes.Compare(x[9:], y[9:]))
		})
	}
	candidates = q.candidates(out.ordered)
	real, extra := fieldsOf(candidates)
	if !out.ordered {
		candidates = slices.DeleteFunc(candidates, func(c keys.Candidate) bool { return hasExtra(c.Key) != "" })
		extra = nil
	}
	more := keys.Extra{Fields: extra, Seed: q.Seed, Unit: q.unitOf(read, result)}
	if out.sample, err = keys.NewSample(append(real, extra...)...); err != nil {
		return out, nil, err
	}
	for _, r := range read {
		doc := r.Doc
		if len(extra) > 0 {
			if doc, err = extended(doc, more.Of(r.Doc.Lookup("_id").ObjectID().Timestamp())); err != nil {
				return out, nil, err
			}
		}
		out.sample.Add(doc, int(r.Bytes))
	}
	if !result.Whole && result.Total.Known {
		out.sample.DrawnFrom(result.Total.Value)
	}
	for _, u := range result.Unique {
		out.unique = append(out.unique, keys.UniqueIndex{Fields: u})
	}
	out.source, out.analyses = q.sourceText(result, out.ordered), result.Analyses
	return out, candidates, nil
}

// extended is a document with more fields at its end.
func extended(doc bson.Raw, more bson.D) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	return bson.Marshal(append(d, more...))
}

// unitOf is the coarse time that suits the rows.
func (q LabKeysQuery) unitOf(read []rowsample.Row, result *rowsample.Result) keys.Unit {
	if len(read) == 0 {
		return keys.Year
	}
	size := int64(0)
	for _, r := range read {
		size += r.Bytes
	}
	if !result.Whole && result.Total.Known {
		size = size / int64(len(read)) * result.Total.Value
	}
	at := func(r rowsample.Row) time.Time {
		id, _ := r.Doc.Lookup("_id").ObjectIDOK()
		return id.Timestamp()
	}
	return keys.UnitFor(size, at(read[len(read)-1]).Sub(at(read[0])), q.chunkBytes())
}

func (q LabKeysQuery) sourceText(result *rowsample.Result, ordered bool) string {
	pattern := "{rows} of {ns}, drawn at random from {all}."
	switch {
	case result.Whole:
		pattern = "All {rows} of {ns}."
	case !result.Total.Known:
		pattern = "{rows} of {ns}, drawn at random. How many there are is not known, so figures are those of the sample."
	}
	if ordered {
		pattern += " They are in the order of insertion by _id."
	} else {
		pattern += " Not all ids are ObjectIDs, so the order of insertion is not known."
	}
	if result.UniqueText != "" {
		pattern += " Unique indexes are not known: {why}"
	}
	return message.New("", pattern, message.Words("rows", countOf(int64(len(result.Rows)), "row", "rows")),
		message.Namespace("ns", topology.Namespace(q.NS)), message.Count("all", result.Total.Value),
		message.Text("why", result.UniqueText)).String()
}

// LabCollections are the collections whose rows can be compared, in their order.
func LabCollections(v answer.View) (out []string) {
	if v.Table == nil {
		return nil
	}
	for _, c := range v.Table.Collections {
		if (LabKeysQuery{LabKeysInputs: api.LabKeysInputs{NS: string(c.NS)}}).mayBeRead(v) == nil {
			out = append(out, string(c.NS))
		}
	}
	for _, ns := range v.Table.Unsharded {
		if (LabKeysQuery{LabKeysInputs: api.LabKeysInputs{NS: string(ns)}}).mayBeRead(v) == nil && v.Table.Collection(ns) == nil {
			out = append(out, string(ns))
		}
	}
	slices.Sort(out)
	return out
}
