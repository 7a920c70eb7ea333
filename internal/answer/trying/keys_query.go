package trying

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
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

// Parameters are those of a comparison whose usual inputs are set.
func (q *LabKeysQuery) Parameters() param.List {
	most := MaxLabRows
	if q.NS != "" {
		most = rowsample.MostRows
	}
	size := param.Number(&q.RowBytes, "rowBytes", 1, 16<<20, "of the model: size of a row")
	size.Text = "of the model: size of a row in bytes; default 400, 700 or 900"
	return param.List{
		param.Text(&q.NS, "ns", "a collection whose rows are read, as database.collection; for operators. Absent: a model"),
		param.OneOf(&q.Collection, "collection", "of the model", slices.Sorted(maps.Keys(todays))...),
		param.Check(func() error {
			q.RowBytes = rowBytes[q.Collection]
			return nil
		}),
		param.Number(&q.Rows, "rows", rowsample.LeastRows, most, "rows that are looked at, at most; of a collection to 50000, default 2000"),
		param.Number(&q.Projects, "projects", 1, keys.MostProjects, "of the model: how many"),
		param.Number(&q.PerProject, "perProject", 1, maxLabPerProject, "of the model: documents, or clients, of a project on average"),
		param.Number(&q.PerDoc, "perDocument", 1, maxLabPerDoc, "of the model of changes: changes of a document on average"),
		param.Real(&q.Skew, "skew", 0, keys.MostSkew, "of the model: how much larger the largest are, 0: all alike"),
		param.Real(&q.Growth, "growth", 0, keys.MostGrowth, "of the model: how many times as many rows a day at the end as at the beginning"),
		param.Number(&q.Days, "days", 1, maxLabDays, "of the model: from the first row to the last"),
		size,
		param.Seed(&q.Seed, "of all that is by chance"),
		param.Number(&q.Shards, "shards", 1, keys.MostShards, "shards; those of the cluster where they are known"),
		param.Number(&q.ChunkMB, "chunkMB", keys.LeastChunk>>20, keys.MostChunkSize>>20, "chunk size; that of the cluster where it is known"),
		param.Number(&q.RateMB, "rateMB", 1, maxLabRate, "what resharding copies in a second"),
		param.Of("release", "of MongoDB; default that of the cluster", func(typed string) error {
			if q.Release = typed; !balance.ReleaseOf(typed).Known() || len(typed) > 40 {
				return fault.New(fault.Invalid, "release must be a release of MongoDB such as 7.0, not %q.", sanitize.Truncate(typed, 40))
			}
			return nil
		}),
		param.Check(q.modelFits),
		param.Values("today", "shard key of today as JSON, or none; default that of the collection", q.readToday),
		param.Of("keys", `keys to add as JSON, such as {"project_id":1,"key":1}; at most 8`, q.readKeys),
	}
}

// ParseLabKeys reads the parameters of a comparison. v may be the zero View.
func ParseLabKeys(in url.Values, v answer.View) (q LabKeysQuery, err error) {
	q.LabKeysInputs = DefaultLabKeys(v, topology.Namespace(strings.TrimSpace(in.Get("ns"))))
	err = q.Parameters().Read(in)
	return q, err
}

// modelFits refuses a model that is too large to compute.
func (q *LabKeysQuery) modelFits() error {
	if q.Collection == "changes" && int64(q.Projects)*int64(q.PerProject) > keys.MostDocuments {
		return fault.New(fault.Invalid, "perProject: projects times documents of a project may be at most %d for changes, not %d.",
			keys.MostDocuments, int64(q.Projects)*int64(q.PerProject))
	}
	if float64(q.Projects)*float64(q.PerProject)*float64(q.PerDoc)*float64(q.RowBytes) > maxLabBytes {
		return fault.New(fault.Invalid, "rowBytes: the collection of the model may have at most %s.", format.Bytes(maxLabBytes))
	}
	return nil
}

// readToday reads the key of today.
func (q *LabKeysQuery) readToday(given []string) (err error) {
	switch {
	case len(given) > 0:
		q.Today = strings.TrimSpace(given[0])
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
	return nil
}

// readKeys reads the added keys.
func (q *LabKeysQuery) readKeys(text string) error {
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
			"perProject": strconv.Itoa(q.PerProject), "skew": decimalText(q.Skew), "growth": decimalText(q.Growth), "days": strconv.Itoa(q.Days),
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

// URL is the address of the comparison on a page such as /lab/keys.
func (q LabKeysQuery) URL(page string) string { return page + "?" + q.Values().Encode() }
