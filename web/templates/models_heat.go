package templates

// HeatLine is the load of one thing in a sentence that says its time, because
// it may stand on a page that is not drawn anew with every count.
type HeatLine struct{ Text, URL string }

// HeatChunk is a sentence about a hot chunk.
type HeatChunk struct {
	Key, Name, URL string
	Shard          ShardRef
	Takes          string // share of its shard, rate
	Who            string
	Split          string
	PlanURL        string // of the plan that helps; "" when there is none
	PlanText       string // of its link, or why there is none
	Share          float64
}
