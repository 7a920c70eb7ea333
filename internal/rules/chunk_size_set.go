package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ChunkSizeSet lists collections that have a chunk size of their own.
const ChunkSizeSet Rule = "chunk-size-set"

var chunkSizeSet = rule{id: ChunkSizeSet, name: "Own chunk size", find: findChunkSizeSet,
	playbooks: []Playbook{PlaybookManySmallChunks}}

func findChunkSizeSet(ev *evaluation) {
	for _, c := range ev.sharded() {
		if c.MaxChunkBytes <= 0 {
			continue
		}
		ns, since := string(c.NS), ev.since(c.NS, SettingChunkSize)
		p := Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why:      message.New("chunkSizeSet.chosen", "It decides when the balancer moves its data, not the size that is set for the cluster."),
			Weight:   float64(c.Chunks.Len()),
			Text: ev.lasting("chunkSizeSet", "The chunk size of {ns} is {size}, not the cluster’s",
				"The chunk size of {ns} has been {size}, not the cluster’s,", since, message.Namespace("ns", ns),
				message.Bytes("size", c.MaxChunkBytes)),
			Evidence: ev.sinceEvidence(since),
			Remedy: Remedy{Plans: []Plan{plan("chunk-size",
				message.New("chunk-size", "Use the cluster’s chunk size for {ns} again.", message.Namespace("ns", ns)), "ns", ns, "size", "0")}},
		}
		if b := ev.Table.Balancer; b.Known && b.ChunkBytes > 0 {
			p.Evidence = append(p.Evidence, Evidence{Name: message.New("chunkSizeSet.cluster", "Chunk size of the cluster"), Unit: "bytes",
				Known: true, Value: float64(b.ChunkBytes), Exact: true, Method: "routing", At: ev.Table.Health[topology.PartSettings].At})
		}
		ev.add(p)
	}
}
