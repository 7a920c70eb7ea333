package trying

import (
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/growth"
	"shardboard/internal/sanitize"
)

// GrowthQuery asks what happens when shards are added or emptied and the data grows. Zero values of Rate,
// Capacity, NewCapacity and Measure mean what is known of the cluster.
type GrowthQuery struct {
	Add         int     // shards that join
	Empty       string  // shard that is emptied; "" for none
	Growth      float64 // by how much all data grows afterwards, as a multiple of today's
	Project     string  // hex id of a project that grows by itself; "" for none
	Factor      float64 // how large that project gets, as a multiple of today
	Group       int     // moves in a group
	PerShard    int     // moves at a time in which a shard takes part
	Rate        int64   // bytes a second of one move
	Pause       time.Duration
	Fill        int // percent of a shard's capacity to stay below
	Capacity    int64
	NewCapacity int64
	Measure     growth.Measure
	Batch       bool // with the form that makes a batch of the moves; page only

	After int // moves before the first listed one
	Limit int // moves that are listed
}

// Limits of the query.
const (
	GrowthMostAdded  = 256
	growthUsualGroup = 10
	growthUsualFill  = 80
	growthMostPause  = 7 * 24 * time.Hour
)

// Parameters are those of an address.
func (q *GrowthQuery) Parameters() param.List {
	q.Add, q.Factor, q.Group, q.PerShard, q.Fill = 1, 2, growthUsualGroup, 1, growthUsualFill
	return param.List{
		param.Number(&q.Add, "add", 0, GrowthMostAdded, "how many shards join"),
		param.Text(&q.Empty, "empty", "a shard that is emptied"),
		param.Real(&q.Growth, "growth", 0, growth.MostGrowth, "by how much all data grows after the moves, as a multiple of today’s"),
		param.Of("project", "id of a project that grows by itself, 24 hexadecimal digits", func(typed string) error {
			id, err := bson.ObjectIDFromHex(typed)
			if err != nil {
				return fault.New(fault.Invalid, "project must be the id of a project, 24 hexadecimal digits, not %q.", sanitize.Truncate(typed, 60))
			}
			q.Project = id.Hex()
			return nil
		}),
		param.Real(&q.Factor, "factor", 1, growth.MostGrowth, "how large that project gets, as a multiple of today"),
		param.Number(&q.Group, "group", 1, actions.MostItems, "moves in a group"),
		param.Number(&q.PerShard, "perShard", 1, 16, "moves at a time in which a shard takes part"),
		param.Bytes(&q.Rate, "rate", "bytes a second of one move, such as 20MB; default that of past moves"),
		param.Duration(&q.Pause, "pause", 0, growthMostPause, "a Go duration from 0s to 168h between groups; default 0s"),
		param.Number(&q.Fill, "fill", 1, 100, "percent of its capacity that a shard may fill"),
		param.Bytes(&q.Capacity, "capacity", "bytes of documents that each shard of today can hold, such as 500GB; default by its free disk"),
		param.Bytes(&q.NewCapacity, "newCapacity", "the same of each added shard; default that of the smallest shard"),
		param.Named("measure", "what is made even; release: as the balancer of the release has it",
			[]string{"release", string(growth.ByBytes), string(growth.ByChunks)}, func(word string) {
				if q.Measure = growth.Measure(word); word == "release" {
					q.Measure = ""
				}
			}),
		param.Of("batch", "1: with the form that makes a batch of the moves", func(typed string) error {
			q.Batch = typed == "1"
			return nil
		}),
		param.Place(&q.After), param.Limit(&q.Limit),
	}
}

// values are the parameters that are not as usual.
func (q GrowthQuery) values() url.Values {
	u := url.Values{}
	count := func(name string, n, usual int) {
		if n != usual {
			u.Set(name, strconv.Itoa(n))
		}
	}
	size := func(name string, n int64) {
		if n != 0 {
			u.Set(name, BytesTyped(n))
		}
	}
	count("add", q.Add, 1)
	answer.SetParameter(u, "empty", q.Empty)
	if q.Growth != 0 {
		u.Set("growth", decimalText(q.Growth))
	}
	if q.Project != "" {
		u.Set("project", q.Project)
		u.Set("factor", decimalText(q.Factor))
	}
	count("group", q.Group, growthUsualGroup)
	count("perShard", q.PerShard, 1)
	count("fill", q.Fill, growthUsualFill)
	size("rate", q.Rate)
	size("capacity", q.Capacity)
	size("newCapacity", q.NewCapacity)
	answer.SetParameter(u, "measure", string(q.Measure))
	if q.Pause != 0 {
		u.Set("pause", q.Pause.String())
	}
	return u
}

func decimalText(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// GrowthPath is the address of the planner's page.
const GrowthPath = "/lab/growth"

// CSV is the address of the moves of this query as a file.
func (q GrowthQuery) CSV() string { return answer.Address(GrowthPath+".csv", q.values(), 1) }

// SVG is the address of the picture of all shards.
func (q GrowthQuery) SVG() string { return answer.Address(GrowthPath+".svg", q.values(), 1) }

// JSON is the address of the answer to this query.
func (q GrowthQuery) JSON() string { return answer.Address(api.Prefix+GrowthPath, q.values(), 1) }

// AtMove is the address of the page whose list begins behind so many moves.
func (q GrowthQuery) AtMove(after int) string {
	u := q.values()
	if after > 0 {
		u.Set("cursor", string(answer.CursorOf(strconv.Itoa(after))))
	}
	return answer.Address(GrowthPath, u, 1) + "#moves"
}

// BatchURL is the address of the page with the form that makes a batch of the moves.
func (q GrowthQuery) BatchURL() string {
	u := q.values()
	u.Set("batch", "1")
	return answer.Address(GrowthPath, u, 1) + "#batch"
}

// everyInput is the address of the page with all inputs written out, so that it says the same when what is usual
// here, or what is known of the cluster, changes.
func (q GrowthQuery) everyInput(in api.LabGrowthInputs) string {
	q.Measure, q.Rate = growth.Measure(in.Measure), in.Rate
	u := q.values()
	for name, n := range map[string]int{"add": q.Add, "group": q.Group, "perShard": q.PerShard, "fill": q.Fill} {
		u.Set(name, strconv.Itoa(n))
	}
	u.Set("growth", decimalText(q.Growth))
	u.Set("pause", q.Pause.String())
	if v := in.NewCapacity.Value; v != nil && q.Add > 0 {
		u.Set("newCapacity", BytesTyped(*v))
	}
	return answer.Address(GrowthPath, u, 1)
}
