package rules

import "shardboard/internal/message"

// HotChunk finds chunks that take much of their collection's writes, where a split divides those
// writes or it is not known whether it does.
const HotChunk Rule = "hot-chunk"

var hotChunk = rule{id: HotChunk, name: "Hot chunk", page: PageHeat, ofWrites: true, find: findHotChunk,
	playbooks: []Playbook{PlaybookHotProject}}

func findHotChunk(ev *evaluation) {
	if len(ev.Table.Shards) < 2 || ev.uncounted() {
		return
	}
	for _, h := range ev.busyChunks() {
		if oneValue(h.x.Split) {
			continue // that is a hot document
		}
		p := ev.busyChunkProblem(h)
		p.Text = message.New("hotChunk",
			"One chunk of {ns} on {shard} takes {share} of the collection's writes in the last {window}.",
			message.Namespace("ns", h.c.NS), message.Last("window", h.w.Over), message.Shard("shard", h.ch.Shard),
			message.Share("share", h.x.Line.Rate.Share))
		if p.Project != "" {
			p.Text = message.New("hotChunk.project",
				"One chunk of {ns} on {shard} takes {share} of the collection's writes in the last {window}, "+
					"most of them for the project {name}.",
				append(p.Text.Facts, message.Project("name", p.Project, ev.nameOf(p.Project)))...)
		}
		p.Remedy = ev.relieve(h)
		ev.add(p)
	}
}
