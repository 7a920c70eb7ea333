package rules

import (
	"slices"

	"shardboard/internal/message"
)

// HotDocument finds hot chunks whose writes have one shard-key value, so that no split divides
// them: those of one document, or of one project where the key ends with it.
const HotDocument Rule = "hot-document"

var hotDocument = rule{id: HotDocument, name: "Hot document", page: PageHeat, ofWrites: true, find: findHotDocument,
	playbooks: []Playbook{PlaybookHotProject}}

func findHotDocument(ev *evaluation) {
	if len(ev.Table.Shards) < 2 || ev.uncounted() {
		return
	}
	for _, h := range ev.busyChunks() {
		if !oneValue(h.x.Split) {
			continue
		}
		p := ev.busyChunkProblem(h)
		s, rate := h.x.Split, h.x.Line.Rate
		facts := []message.Fact{message.Namespace("ns", h.c.NS), message.Shard("shard", h.ch.Shard),
			message.Share("share", rate.Share), message.Share("shareOwn", s.Share), message.Last("window", h.w.Over)}
		switch s.Code {
		case "document":
			p.Document = s.DocumentText
			p.Subject = string(h.c.NS) + " " + p.Document
			p.Text = message.New("hotDocument",
				"The document {document} takes {shareOwn} of the writes to a chunk of {ns} on {shard}, "+
					"which takes {share} of the collection's writes in the last {window}. No split divides it.",
				append(facts, message.Text("document", p.Document))...)
			if p.Project != "" {
				p.Text = message.New("hotDocument.of",
					"The document {document} of the project {name} takes {shareOwn} of the writes to a chunk of {ns} on "+
						"{shard}, which takes {share} of the collection's writes in the last {window}. No split divides it.",
					append(p.Text.Facts, message.Project("name", p.Project, ev.nameOf(p.Project)))...)
			}
			p.Evidence = append(p.Evidence, shareOf(message.New("hotDocument.share",
				"Share of {document} in the chunk's writes",
				message.Text("document", p.Document)), s.Share, h.w))
		case "project":
			p.Subject = string(h.c.NS) + " " + p.Project
			p.Text = message.New("hotDocument.project",
				"The project {name} makes {shareOwn} of the writes to a chunk of {ns} on {shard}, "+
					"which takes {share} of the collection's writes in the last {window}. No split divides it.",
				append(facts, message.Project("name", p.Project, ev.nameOf(p.Project)))...)
			p.Evidence = append(p.Evidence, shareOf(message.New("hotDocument.share",
				"Share of {document} in the chunk's writes",
				message.Text("document", ev.nameOf(p.Project))), s.Share, h.w))
		default:
			p.Text = message.New("hotDocument.single",
				"One shard-key value takes {share} of the writes to {ns} in the last {window}, all on {shard}. No split divides it.", facts...)
		}
		p.Remedy = ev.relieve(h)
		ev.add(p)
	}
}

// moveAway moves a chunk that no split divides to the shard with fewest writes,
// where that shard is then still below what the chunk's own shard takes now.
func (ev *evaluation) moveAway(h busyChunk) Remedy {
	to := ev.leastBusy(h)
	r := Remedy{WhyNot: whyNoSplit(h, to != "")}
	if to != "" {
		r.Plans = []Plan{moveChunk(h, to)}
	}
	return r
}

// whyNoSplit says why a split does not help a chunk, and whether a move does.
func whyNoSplit(h busyChunk, move bool) message.Message {
	var code, pattern string
	switch h.x.Split.Code {
	case "document":
		code, pattern = "hotDocument.oneDocument", "All rows of one document have the same value of {key}, so no split divides them. "+
			"The application has to write to it less often, or to several documents. A longer shard key would divide its new rows "+
			"only by a field whose values do not grow."
	case "project":
		code, pattern = "hotDocument.oneProject", "All rows of one project have the same value of {key}, so no split divides them. "+
			"A longer shard key would, or the application has to write less often."
	default:
		code, pattern = "hotDocument.oneValue", "The chunk holds one shard-key value ({key}), so no split divides it."
	}
	if move {
		pattern += " Moving the chunk gives the other data on its shard more room."
	} else {
		code, pattern = code+"Nowhere", pattern+" Moving the chunk would only heat another shard."
	}
	return message.New(code, pattern, message.Text("key", h.c.Key.String()))
}

// leastBusy is the shard with fewest writes that a hot chunk would be better on; "" if there is none. A shard with
// more chunks of the collection than the chunk's own is the second choice: the balancer would soon move one back.
func (ev *evaluation) leastBusy(h busyChunk) string {
	i, _ := h.c.Chunks.Find(h.ch.Min)
	zone, straddles := ev.Table.ZoneOf(h.c, i)
	if straddles || h.c.Resharding || h.c.MigrationsBlocked {
		return ""
	}
	writes, _ := ev.shardWrites()
	best, chunks := "", h.c.Chunks.CountByShard()
	crowded := func(shard string) bool { return chunks[shard] >= chunks[h.ch.Shard] }
	for _, s := range ev.Table.Shards { // by name
		if s.Name == h.ch.Shard || s.Draining || zone != "" && !slices.Contains(s.Zones, zone) {
			continue
		}
		switch {
		case best != "" && crowded(s.Name) && !crowded(best):
		case best == "" || crowded(best) && !crowded(s.Name) || writes[s.Name].PerSecond < writes[best].PerSecond:
			best = s.Name
		}
	}
	if best == "" || writes[best].PerSecond+h.x.Line.Rate.PerSecond >= writes[h.ch.Shard].PerSecond {
		return ""
	}
	return best
}
