package trying

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/lab/keys"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Limits of a comparison of shard keys. A model of the most rows takes some seconds.
const (
	MaxLabRows       = 100_000 // of a model
	MaxLabKeys       = 8       // keys that can be added
	maxLabPerProject = 100_000_000
	maxLabPerDoc     = 10_000_000
	maxLabDays       = 3650
	maxLabBytes      = 1 << 50 // of a whole model
	maxLabRate       = 10_000  // MB a second
)

// LabKeysQuery asks for a comparison of shard keys.
type LabKeysQuery struct {
	api.LabKeysInputs
	today shardkey.Pattern
	typed []shardkey.Pattern
}

// DefaultLabKeys are the inputs of which nothing is said: those of the cluster where they are known. v may be the zero
// View.
func DefaultLabKeys(v answer.View, ns topology.Namespace) api.LabKeysInputs {
	out := api.LabKeysInputs{NS: string(ns), Rows: 20_000, Collection: "documents", Projects: 200, PerProject: 1000, PerDoc: 100, Skew: 1,
		Growth: 1, Days: 90, Seed: 1, Shards: 3, ChunkMB: 128, RateMB: 20, Release: "8.0", Keys: []string{}}
	if ns != "" {
		out.Rows = rowsample.DefaultRows
	}
	if t := v.Table; t != nil {
		if n := len(t.Shards); n > 0 {
			out.Shards = n
		}
		if r := t.ServerInfo.Version; r != "" {
			out.Release = r
		}
		if t.Balancer.Known && t.Balancer.ChunkBytes > 0 {
			out.ChunkMB = chunkMB(t.Balancer.ChunkBytes)
		}
		if c := t.Collection(ns); c != nil && !c.Unsplittable {
			out.Today = c.Key.JSON()
			if c.MaxChunkBytes > 0 {
				out.ChunkMB = chunkMB(c.MaxChunkBytes)
			}
		}
	}
	return out
}

func chunkMB(bytes int64) int { return max(int(bytes>>20), 1) }

// todays are the shard keys of Yorkie's collections at head.
var todays = map[string]string{"documents": `{"project_id":1}`, "clients": `{"project_id":1,"_id":"hashed"}`, "changes": `{"doc_id":"hashed"}`}

// rowBytes are usual sizes of rows.
var rowBytes = map[string]int{"documents": 400, "clients": 700, "changes": 900}

// ParseLabKeys reads the parameters of a comparison.
func ParseLabKeys(in url.Values, v answer.View) (q LabKeysQuery, err error) {
	ns, err := answer.TextParameter(in, "ns")
	if err != nil {
		return q, err
	}
	q.LabKeysInputs = DefaultLabKeys(v, topology.Namespace(ns))
	most := MaxLabRows
	if ns != "" {
		most = rowsample.MostRows
	}
	if c := in.Get("collection"); c != "" {
		q.Collection = c
	}
	if _, ok := todays[q.Collection]; !ok {
		return q, fault.New(fault.Invalid, "collection must be documents, clients or changes, not %q.", sanitize.Truncate(q.Collection, 40))
	}
	q.RowBytes = rowBytes[q.Collection]
	for _, n := range []struct {
		name        string
		to          *int
		least, most int
	}{
		{"rows", &q.Rows, rowsample.LeastRows, most}, {"projects", &q.Projects, 1, keys.MostProjects},
		{"perProject", &q.PerProject, 1, maxLabPerProject}, {"perDocument", &q.PerDoc, 1, maxLabPerDoc}, {"days", &q.Days, 1, maxLabDays},
		{"rowBytes", &q.RowBytes, 1, 16 << 20}, {"shards", &q.Shards, 1, keys.MostShards},
		{"chunkMB", &q.ChunkMB, keys.LeastChunk >> 20, keys.MostChunkSize >> 20}, {"rateMB", &q.RateMB, 1, maxLabRate},
	} {
		if *n.to, err = answer.NumberParameter(in, n.name, n.least, n.most, *n.to); err != nil {
			return q, err
		}
	}
	if q.Collection == "changes" && int64(q.Projects)*int64(q.PerProject) > keys.MostDocuments {
		return q, fault.New(fault.Invalid, "perProject: projects times documents of a project may be at most %d for changes, not %d.",
			keys.MostDocuments, int64(q.Projects)*int64(q.PerProject))
	}
	if float64(q.Projects)*float64(q.PerProject)*float64(q.PerDoc)*float64(q.RowBytes) > maxLabBytes {
		return q, fault.New(fault.Invalid, "rowBytes: the collection of the model may have at most %s.", format.Bytes(maxLabBytes))
	}
	if err = q.readFractions(in); err != nil {
		return q, err
	}
	if err = q.readRelease(in); err != nil {
		return q, err
	}
	return q, q.readPatterns(in)
}

func (q *LabKeysQuery) readFractions(in url.Values) (err error) {
	for _, f := range []struct {
		name string
		to   *float64
		most float64
	}{{"skew", &q.Skew, keys.MostSkew}, {"growth", &q.Growth, keys.MostGrowth}} {
		if text := in.Get(f.name); text != "" {
			if *f.to, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(*f.to) || *f.to < 0 || *f.to > f.most {
				return fault.New(fault.Invalid, "%s must be a number from 0 to %g, not %q.", f.name, f.most, sanitize.Truncate(text, 40))
			}
		}
	}
	if text := in.Get("seed"); text != "" {
		if q.Seed, err = strconv.ParseUint(text, 10, 63); err != nil {
			return fault.New(fault.Invalid, "seed must be a number from 0 to 9223372036854775807, not %q.", sanitize.Truncate(text, 40))
		}
	}
	return nil
}

func (q *LabKeysQuery) readRelease(in url.Values) error {
	if text := in.Get("release"); text != "" {
		if !balance.ReleaseOf(text).Known() || len(text) > 40 {
			return fault.New(fault.Invalid, "release must be a release of MongoDB such as 7.0, not %q.", sanitize.Truncate(text, 40))
		}
		q.Release = text
	}
	return nil
}

// readPatterns reads the key of today and the added keys.
func (q *LabKeysQuery) readPatterns(in url.Values) (err error) {
	today, given := in["today"]
	switch {
	case given:
		q.Today = strings.TrimSpace(today[0])
	case q.NS == "":
		q.Today = todays[q.Collection]
	}
	if q.Today == "none" {
		q.Today = ""
	}
	if q.Today != "" {
		if q.today, err = parseLabKey("today", q.Today); err != nil {
			return err
		}
		q.Today = q.today.JSON()
	}
	text, err := answer.TextParameter(in, "keys")
	if err != nil {
		return err
	}
	for _, one := range strings.SplitAfter(text, "}") {
		one = strings.Trim(one, " \t\r\n,;[]")
		if one == "" {
			continue
		}
		p, err := parseLabKey("keys", one)
		if err != nil {
			return err
		}
		if q.typed = append(q.typed, p); len(q.typed) > MaxLabKeys {
			return fault.New(fault.Invalid, "keys: at most %d keys can be added.", MaxLabKeys)
		}
		q.Keys = append(q.Keys, p.JSON())
	}
	return nil
}

func parseLabKey(name, text string) (shardkey.Pattern, error) {
	doc, err := shardkey.ParseExtJSON(text)
	if err != nil {
		return shardkey.Pattern{}, fault.Wrap(fault.Invalid, err, `%s must be shard keys as JSON, such as {"project_id": 1, "key": 1}, not %q.`, name,
			sanitize.Truncate(text, 60))
	}
	p, err := shardkey.ParsePattern(doc)
	if err != nil {
		return p, fault.Wrap(fault.Invalid, err, "%s: %q cannot be a shard key. %s", name, sanitize.Truncate(text, 60),
			sanitize.Truncate(fault.Text(err), 200))
	}
	return p, nil
}

// Values are all inputs as parameters, so that the link shows the same comparison on every cluster.
func (q LabKeysQuery) Values() url.Values {
	out := url.Values{"rows": {strconv.Itoa(q.Rows)}, "shards": {strconv.Itoa(q.Shards)}, "chunkMB": {strconv.Itoa(q.ChunkMB)},
		"rateMB": {strconv.Itoa(q.RateMB)}, "release": {q.Release}, "today": {q.Today}, "seed": {strconv.FormatUint(q.Seed, 10)}}
	if q.Today == "" {
		out.Set("today", "none")
	}
	if q.NS != "" {
		out.Set("ns", q.NS)
	} else {
		for name, value := range map[string]string{"collection": q.Collection, "projects": strconv.Itoa(q.Projects),
			"perProject": strconv.Itoa(q.PerProject), "skew": labFraction(q.Skew), "growth": labFraction(q.Growth), "days": strconv.Itoa(q.Days),
			"rowBytes": strconv.Itoa(q.RowBytes)} {
			out.Set(name, value)
		}
		if q.Collection == "changes" {
			out.Set("perDocument", strconv.Itoa(q.PerDoc))
		}
	}
	if len(q.Keys) > 0 {
		out.Set("keys", strings.Join(q.Keys, " "))
	}
	return out
}

func labFraction(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// URL is the address of the comparison on a page such as /lab/keys.
func (q LabKeysQuery) URL(page string) string { return page + "?" + q.Values().Encode() }
