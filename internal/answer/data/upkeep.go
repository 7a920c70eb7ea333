package data

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// upkeepOf fills in the settings that decide what the balancer does with the chunks of a
// collection beside moving them. A setting that the release does not have, or that was not
// read, is left unknown.
func upkeepOf(t *topology.Table, c *topology.Collection, out *api.Collection) {
	out.ChunkSizeBytes = c.MaxChunkBytes
	r := balance.ReleaseOf(t.ServerInfo.Version)
	if c.Unrecorded || !out.Sharded || !r.Known() {
		return
	}
	if r.AtLeast(5, 3, 0) {
		on := c.Defragmenting
		out.Defragmenting, out.DefragmentPhase = &on, c.Phase
	}
	if r.AtLeast(7, 0, 0) {
		on := !c.AutoMergeOff && !t.Balancer.AutoMergeOff
		out.AutoMerge = &on
	}
}

// DefragmentationText says how far the defragmentation of a collection is; "" if none is
// known to run.
func DefragmentationText(c api.Collection) string {
	if c.Defragmenting == nil || !*c.Defragmenting {
		return ""
	}
	switch c.DefragmentPhase {
	case "":
		return "not begun"
	case topology.PhaseMergeAndMeasure:
		return "1 of 3: merging"
	case topology.PhaseMoveAndMerge:
		return "2 of 3: moving to merge"
	case topology.PhaseMerge, topology.PhaseSplit, topology.PhaseFinished:
		return "3 of 3: last merges"
	}
	return sanitize.Line(sanitize.Truncate(c.DefragmentPhase, 60))
}

// UpkeepFlags are remarks on what is not as usual, short and in full.
func UpkeepFlags(c api.Collection) (out [][2]string) {
	if c.Defragmenting != nil && *c.Defragmenting {
		phase := "It has not begun yet."
		if c.DefragmentPhase != "" {
			phase = fmt.Sprintf("Its phase is %s.", sanitize.Truncate(c.DefragmentPhase, 60))
		}
		out = append(out, [2]string{"defragmenting", "The balancer merges its chunks, and moves some for that. " + phase})
	}
	if c.AutoMerge != nil && !*c.AutoMerge {
		out = append(out, [2]string{"no automatic merging",
			"The balancer does not merge adjacent chunks: that is off for the collection or for the cluster."})
	}
	if c.ChunkSizeBytes > 0 {
		out = append(out, [2]string{"own chunk size", "Its chunk size is " + format.Bytes(c.ChunkSizeBytes) + ", not the cluster’s."})
	}
	return out
}
