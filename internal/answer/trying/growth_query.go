package trying

import (
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/answer"

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

// ParseGrowthQuery reads the parameters of an address.
func ParseGrowthQuery(in url.Values) (q GrowthQuery, err error) {
	var measure, pause string
	texts := map[string]*string{"empty": &q.Empty, "project": &q.Project, "measure": &measure, "pause": &pause}
	if err = answer.TextParameters(in, texts); err != nil {
		return q, err
	}
	for _, x := range []struct {
		name                string
		into                *int
		least, most, absent int
	}{
		{"add", &q.Add, 0, GrowthMostAdded, 1}, {"group", &q.Group, 1, actions.MostItems, growthUsualGroup},
		{"perShard", &q.PerShard, 1, 16, 1}, {"fill", &q.Fill, 1, 100, growthUsualFill},
		{"limit", &q.Limit, 1, api.MaxLimit, api.DefaultLimit},
	} {
		if *x.into, err = answer.NumberParameter(in, x.name, x.least, x.most, x.absent); err != nil {
			return q, err
		}
	}
	if q.Growth, err = realNumber(in, "growth", 0, growth.MostGrowth, 0); err != nil {
		return q, err
	}
	if q.Factor, err = realNumber(in, "factor", 1, growth.MostGrowth, 2); err != nil {
		return q, err
	}
	for name, into := range map[string]*int64{"rate": &q.Rate, "capacity": &q.Capacity, "newCapacity": &q.NewCapacity} {
		if *into, err = typedBytes(in, name); err != nil {
			return q, err
		}
	}
	switch q.Measure = growth.Measure(measure); q.Measure {
	case "", growth.ByBytes, growth.ByChunks:
	case "release":
		q.Measure = ""
	default:
		return q, fault.New(fault.Invalid, "measure must be release, bytes or chunks, not %q.", sanitize.Truncate(measure, 40))
	}
	if q.Project != "" {
		id, err := bson.ObjectIDFromHex(q.Project)
		if err != nil {
			return q, fault.New(fault.Invalid, "project must be the id of a project, 24 hexadecimal digits, not %q.",
				sanitize.Truncate(q.Project, 60))
		}
		q.Project = id.Hex()
	}
	if pause != "" {
		q.Pause, err = time.ParseDuration(pause)
		if err != nil || q.Pause < 0 || q.Pause > growthMostPause {
			return q, fault.New(fault.Invalid, "pause must be a time from 0s to 168h, such as 90s or 1h, not %q.", sanitize.Truncate(pause, 40))
		}
	}
	q.Batch = in.Get("batch") == "1"
	key, given, err := answer.CursorKey(in)
	if err == nil && given {
		if q.After, err = strconv.Atoi(key); err != nil || q.After < 0 {
			return q, fault.New(fault.Invalid, "This is not a cursor of a list of moves.")
		}
	}
	return q, err
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
