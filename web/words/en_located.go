package words

// located is what an answer of locate says first of each thing that it found.
// The shards stand between an answer and its end.
var located = map[string]string{

	"reason.count.notTargeted":  "a count would ask every shard",
	"reason.count.notPermitted": "the cluster user may not read it",
	"reason.count.unreachable":  "the cluster did not answer",
}
