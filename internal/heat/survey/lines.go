package survey

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
)

// lines are the lines of the projects of which rows were counted, largest first.
func (p *countPart) lines() []Line {
	count := func(n float64) Estimate {
		return Estimate{Value: int64(n), Low: int64(n), High: int64(n), Exact: p.Drawn, AtLeast: !p.Drawn}
	}
	byProject := map[bson.ObjectID][]cell{}
	for _, c := range p.Sums.All {
		byProject[c.Project] = append(byProject[c.Project], c)
	}
	out := make([]Line, 0, len(byProject))
	for project, cells := range byProject {
		line, sum := Line{Project: project}, cell{}
		for _, c := range cells {
			sum.Rows, sum.Bytes = sum.Rows+c.Rows, sum.Bytes+c.Bytes
			sum.DeadRows, sum.DeadBytes = sum.DeadRows+c.DeadRows, sum.DeadBytes+c.DeadBytes
			line.Shards = append(line.Shards, Part{Shard: c.Shard, Weight: Weight{Rows: count(float64(c.Rows)), Bytes: count(c.Bytes)}})
		}
		line.Weight = Weight{Rows: count(float64(sum.Rows)), Bytes: count(sum.Bytes)}
		if p.Target.Dead.Field != "" {
			line.Dead = &Weight{Rows: count(float64(sum.DeadRows)), Bytes: count(sum.DeadBytes)}
		}
		slices.SortFunc(line.Shards, func(a, b Part) int { return natural.Compare(a.Shard, b.Shard) })
		out = append(out, line)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Bytes.Value, a.Bytes.Value), slices.Compare(a.Project[:], b.Project[:]))
	})
	return out
}
